"""The shipped program's life under the real engine: empty, up, unchanged, changed, smaller, gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lab.cloud.outcome import Outcome
from tests.engine.program.conftest import Program, named

Make = Callable[[str], Program]


def changed(outcome: Outcome) -> set[tuple[str, str, str]]:
    assert outcome.ok, outcome.problems
    return {(step.op, step.type.split(":")[-1], step.name) for step in outcome.steps if step.op != "same"}


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_an_empty_stack_is_previewed_without_cluster_or_credentials(program: Make, stack: str) -> None:
    """PU8."""
    outcome = program(stack).cloud.preview(stack)
    assert outcome.ok, outcome.problems
    assert set(outcome.changes) == {"create"}


def test_a_second_up_changes_nothing(program: Make) -> None:
    made = program("prod")
    assert made.cloud.up("prod").ok
    assert changed(made.cloud.up("prod")) == set()


def test_another_image_updates_that_models_engine_and_nothing_else(program: Make) -> None:
    """PU4: the autoscaled count is not in the patch."""
    made = program("dev")
    assert made.cloud.up("dev").ok
    made.configure(lambda config: named(config, "llama3-8b").update(image="vllm/vllm-openai:v0.32.0"))
    outcome = made.cloud.up("dev")
    assert changed(outcome) == {("update", "Deployment", "llama3-8b-engine")}
    [update] = [step for step in outcome.steps if step.op == "update"]
    assert [change.path for change in update.diff if "replicas" in change.path] == []


def test_a_removed_model_takes_only_its_own_objects_with_it(program: Make) -> None:
    made = program("dev")
    assert made.cloud.up("dev").ok

    def remove(config: dict[str, Any]) -> None:
        config["headroom:models"] = [m for m in config["headroom:models"] if m["name"] != "mistral-7b"]

    made.configure(remove)
    steps = changed(made.cloud.up("dev"))
    deleted = {name for op, _, name in steps if op == "delete"}
    assert deleted
    assert all(name.startswith("mistral-7b") for name in deleted)
    assert {op for op, _, _ in steps} == {"delete"}


def test_a_refused_configuration_creates_nothing(program: Make) -> None:
    made = program("dev")
    made.configure(lambda config: named(config, "llama3-8b").update(gpusPerReplica=3, pool="nowhere"))
    outcome = made.cloud.up("dev")
    assert not outcome.ok
    assert outcome.changes.get("create", 0) <= 1  # the stack itself
    told = "\n".join(outcome.problems)
    assert "models[0].pool" in told
    assert "Traceback" not in told


ORDER = (
    ("ScaledObject", "keda"),
    ("ScaledObject", "engine"),
    ("Ingress", "load-balancer-controller"),
    ("engine", "NodePool"),
    ("PodMonitor", "prometheus"),
    ("PrometheusRule", "prometheus"),
    ("NodePool", "EC2NodeClass"),
    ("EC2NodeClass", "karpenter"),
    ("karpenter", "karpenter-crd"),
    ("karpenter", "QueuePolicy"),
    ("karpenter", "AccessEntry"),
    ("karpenter-crd", "NodeGroup"),
    ("keda", "NodeGroup"),
    ("coredns", "NodeGroup"),
    ("Namespace", "NodeGroup"),
    ("NodeGroup", "Cluster"),
    ("Cluster", "Subnet"),
    ("Subnet", "Vpc"),
)


def test_destroy_runs_against_the_order_of_need_and_leaves_nothing(program: Make) -> None:
    """PU1, KD18, LB5: finalizers need their controllers, nodes their cluster, the VPC nobody."""
    made = program("dev")
    made.configure(lambda config: named(config, "llama3-8b").pop("ingress"))
    assert made.cloud.up("dev").ok
    outcome = made.cloud.destroy("dev")
    assert outcome.ok, outcome.problems
    assert set(outcome.changes) == {"delete"}
    gone: dict[str, list[int]] = {}
    for index, step in enumerate(step for step in outcome.steps if step.op == "delete"):
        key = step.name if step.type.endswith((":Release", ":Addon")) else step.type.split(":")[-1]
        if key == "Deployment":
            key = step.name.rpartition("-")[2]  # engines run on the pools, routers on the system nodes
        if not step.type.startswith("headroom:"):
            gone.setdefault(key, []).append(index)
    for first, then in ORDER:
        assert max(gone[first]) < min(gone[then]), f"{first} goes before {then}"
    assert changed(made.cloud.destroy("dev")) == set()
