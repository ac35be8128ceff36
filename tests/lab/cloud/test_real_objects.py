"""Objects of the stack in a real API server through the real Kubernetes provider; releases stay recorded."""

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import Namespace

from lab.cloud.kubernetes.forward import KubernetesStartError
from lab.cloud.session import RecordedCloud
from lab.control import plane
from lab.control.parts import registry
from lab.control.plane import Plane
from lab.tools import ensure
from tests.engine.cloud import projects
from tests.engine.cloud.projects import SERVING, Project, steps

_PLAIN_POOL = '    spec={"limits": {"nvidia.com/gpu": "16"}},\n'
_POOL = """    spec={
        "limits": {"nvidia.com/gpu": "16"},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "inference"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
            }
        },
    },
"""
_AWAITED = 'metadata={"name": model, "namespace": namespace.metadata["name"]},'
_SKIPPED = """metadata={
            "name": model,
            "namespace": namespace.metadata["name"],
            "annotations": {"pulumi.com/skipAwait": "true"},
        },"""
"""There are no nodes here: nothing would ever become ready."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Plane]:
    """A real API server that knows the program's custom resources, with the controllers that end namespaces."""
    state = tmp_path_factory.mktemp("plane")
    try:
        yield plane.up(state, registry.API | {"controller-manager"})
    finally:
        plane.down(state)


@pytest.fixture
def real(tmp_path: Path, cli: Path, server: Plane) -> Project:
    """The small serving stack, its objects in the API server."""
    source = SERVING.replace(_PLAIN_POOL, _POOL).replace(_AWAITED, _SKIPPED)
    projects.write(tmp_path / "project", source)
    binary = ensure(["pulumi-resource-kubernetes"])["pulumi-resource-kubernetes"]
    cloud = RecordedCloud(
        tmp_path / "project", tmp_path / "state", cli, kubeconfig=server.kubeconfig, kubernetes=binary
    )
    with cloud:
        return Project(folder=tmp_path / "project", cloud=cloud)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this process and those that it starts keep temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_no_file_with_the_token_stays_behind(real: Project, temporary: Path) -> None:
    real.up()
    assert [*temporary.rglob("*")] == []
    real.cloud.destroy("dev")


def test_objects_live_in_the_api_server_and_go_with_the_stack(real: Project, server: Plane) -> None:
    up = real.up()
    assert up.outputs["release"] == "deployed"
    with server.client() as client:
        namespace = client.get(Namespace, "llm-serving")
        assert namespace.metadata is not None
        assert namespace.metadata.uid == up.outputs["uid"]
        assert client.get(Deployment, "llama3-8b", namespace="llm-serving").spec is not None
    assert real.up().changed == 0
    outcome = real.cloud.destroy("dev")
    assert outcome.ok, outcome.problems
    deleted = [f"{call.type.rpartition(':')[2]} {call.name}" for call in outcome.calls]
    assert deleted.index("Deployment llama3-8b") < deleted.index("NodePool inference")
    assert deleted.index("NodePool inference") < deleted.index("Release karpenter")


def test_an_object_that_the_schema_refuses_is_one_clear_line(real: Project) -> None:
    source = (real.folder / "__main__.py").read_text(encoding="utf-8")
    (real.folder / "__main__.py").write_text(
        source.replace('"operator": "In"', '"operator": "Inn"'), encoding="utf-8"
    )
    outcome = real.cloud.up("dev")
    assert outcome.status == "failed"
    assert any("Inn" in problem and "NodePool" in problem for problem in outcome.problems)
    real.cloud.destroy("dev")


def test_a_changed_image_is_previewed_against_the_live_object(real: Project) -> None:
    real.up()
    real.configure(image="vllm/vllm-openai:v0.33.1")
    assert steps(real.preview(), "update") == ["Deployment llama3-8b"]
    real.cloud.destroy("dev")


def test_a_missing_provider_is_named(tmp_path: Path, cli: Path) -> None:
    projects.write(tmp_path / "project", "")
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("{}", encoding="utf-8")
    with (
        RecordedCloud(tmp_path / "project", tmp_path / "state", cli, kubeconfig=kubeconfig) as cloud,
        pytest.raises(KubernetesStartError, match=r"given only the kubeconfig .*; allowed both or neither"),
    ):
        cloud.preview("dev")
