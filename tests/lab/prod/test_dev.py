"""The dev stack on a lab, from `up` to `destroy`.

Overridden, and nothing else: the address of Prometheus, which is the lab's, and the wait before an engine's SIGTERM.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from specs.fit import fitting_types
from tests.lab.prod.cluster import condition, labels
from tests.lab.prod.rehearsal import NODE_CLAIM, NODE_CLASS, Rehearsal, ready, rehearsed

SERVING = "llm-serving"
SHORT = {"preStopSeconds": 5}
OVERRIDES = {"headroom:models": [{"name": name, "drain": SHORT} for name in ("llama3-8b", "mistral-7b")]}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Generator[Rehearsal]:
    """The stack, up."""
    with rehearsed(tmp_path_factory.mktemp("dev") / "lab", "dev", OVERRIDES) as made:
        yield made


def test_both_models_share_the_spot_pool_in_the_stacks_own_zones(dev: Rehearsal) -> None:
    settings = dev.stage.settings
    node_class = dev.cluster.get(*NODE_CLASS, "inference")
    assert condition(node_class, "Ready") == "True"
    assert {one["zone"] for one in node_class["status"]["subnets"]} == set(settings.zones)
    types = {
        one.type for model in settings.active_models for one in fitting_types(model, settings.gpu_pools[0])
    }
    pods = [pod for pod in dev.pods(SERVING, **{"app.kubernetes.io/component": "engine"}) if ready(pod)]
    assert pods
    for pod in pods:
        node = labels(dev.cluster.get("v1", "Node", pod["spec"]["nodeName"]))
        assert node["karpenter.sh/capacity-type"] == "spot"
        assert node["node.kubernetes.io/instance-type"] in types
        assert node["topology.kubernetes.io/zone"] in settings.zones


def test_destroy_leaves_no_object_of_the_program_and_no_node_behind(dev: Rehearsal) -> None:
    made = [call for call in dev.first.calls if call.type.startswith("kubernetes:") and call.verb == "create"]
    objects = [call for call in made if "helm.sh" not in call.type]
    gone = dev.stage.destroy()
    assert gone.ok, gone.problems
    left = [f"{call.type} {call.id}" for call in objects if dev.cluster.has(call.type, call.id)]
    assert left == []
    assert dev.cluster.items(*NODE_CLAIM) == []
    nodes = [one["metadata"]["name"] for one in dev.cluster.items("v1", "Node")]
    assert all(name.startswith("system-") for name in nodes), nodes
