"""The API server alone: what it knows and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from lightkube import ApiError
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap

from lab.control import kubernetes
from lab.control.parts.registry import API
from lab.control.parts.router import router
from lab.control.plane import Plane, down, up
from lab.control.ports import choose, is_free
from lab.control.report import status
from lab.control.single import add, kill, remove, stop

NODE_CLASS: dict[str, Any] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "inference"},
    "spec": {
        "amiSelectorTerms": [{"alias": "bottlerocket@v1.60.0"}],
        "role": "headroom-node",
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "headroom"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "headroom"}}],
    },
}


def _config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def test_every_kind_of_the_program_is_known(api: Plane) -> None:
    crds = kubernetes.resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        namespaced=False,
    )
    with api.client() as client:
        names = {crd["metadata"]["name"] for crd in client.list(crds)}
    assert names >= {
        "ec2nodeclasses.karpenter.k8s.aws",
        "nodepools.karpenter.sh",
        "capacitybuffers.autoscaling.x-k8s.io",
        "kwoknodeclasses.karpenter.kwok.sh",
        "scaledobjects.keda.sh",
        "podmonitors.monitoring.coreos.com",
        "prometheusrules.monitoring.coreos.com",
    }


def test_a_field_against_the_rules_of_karpenter_is_refused(api: Plane) -> None:
    kind = kubernetes.resource("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", namespaced=False)
    both = NODE_CLASS | {"spec": NODE_CLASS["spec"] | {"instanceProfile": "x"}}
    with api.client() as client:
        client.create(kind(NODE_CLASS))
        with pytest.raises(ApiError, match="Invalid value"):
            client.create(kind(both | {"metadata": {"name": "both"}}))


def test_up_again_keeps_what_runs_and_heals_what_does_not(lab_folder: Path) -> None:
    plane = up(lab_folder, API)
    before = {one.name: one.pid for one in status(lab_folder).components}
    with plane.client() as client:
        client.create(_config_map("kept"))
    assert up(lab_folder, API).ports == plane.ports
    assert {one.name: one.pid for one in status(lab_folder).components} == before
    assert kill(lab_folder, "apiserver")
    assert kill(lab_folder, "etcd")
    assert not status(lab_folder).up
    up(lab_folder, API)
    assert status(lab_folder).up
    with plane.client() as client:
        assert client.get(ConfigMap, "kept", namespace="default")


def test_down_leaves_no_process_no_port_and_no_folder(lab_folder: Path) -> None:
    plane = up(lab_folder, API)
    assert set(down(lab_folder)) == {"etcd", "apiserver"}
    assert not lab_folder.exists()
    assert all(is_free(port) for port in plane.ports.values())
    assert down(lab_folder) == []


def test_a_second_lab_stands_beside_the_first(api: Plane, lab_folder: Path) -> None:
    other = up(lab_folder, API)
    assert not set(other.ports.values()) & set(api.ports.values())
    assert other.pods != api.pods
    with other.client() as client:
        client.create(_config_map("there"))
    with api.client() as client, pytest.raises(ApiError, match="not found"):
        client.get(ConfigMap, "there", namespace="default")


def test_a_lab_that_was_kept_comes_back_with_its_objects(lab_folder: Path) -> None:
    with up(lab_folder, API).client() as client:
        client.create(_config_map("kept"))
    down(lab_folder, keep=True)
    assert not status(lab_folder).up
    with up(lab_folder, API).client() as client:
        assert client.get(ConfigMap, "kept", namespace="default")


def test_a_component_stopped_on_purpose_is_told_from_a_dead_one(lab_folder: Path) -> None:
    up(lab_folder, API)
    stop(lab_folder, "apiserver")
    kill(lab_folder, "etcd")
    assert {one.name: one.condition for one in status(lab_folder).components} == {
        "apiserver": "stopped",
        "etcd": "dead",
    }


def test_a_router_from_its_wheel_joins_the_lab_and_leaves_it(lab_folder: Path) -> None:
    plane = up(lab_folder, API)
    port, metrics = choose(lab_folder.parent, ["router", "metrics"], {}).values()
    part = router(
        name="router-llama",
        kubeconfig=plane.kubeconfig,
        namespace="default",
        selector={"app": "vllm"},
        host="127.0.0.1",
        port=port,
        metrics_port=metrics,
        arguments=("--policy", "cache_aware", "--retry-max-retries", "200"),
    )
    add(lab_folder, part)
    assert {one.name: one.condition for one in status(lab_folder).components}["router-llama"] == "well"
    up(lab_folder, API)
    remove(lab_folder, "router-llama")
    assert is_free(port)
    assert "router-llama" not in {one.name for one in status(lab_folder).components}
