"""One setting changed: what the engine touches, and what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lab.cloud.outcome import Outcome, Step
from tests.engine.program.conftest import Change, Program

Make = Callable[[str], Program]


def after(program: Make, change: Change, before: Change = lambda _: None) -> Outcome:
    """The second up of dev, with a change made."""
    made = program("dev")
    made.configure(before)
    assert made.cloud.up("dev").ok
    made.configure(change)
    outcome = made.cloud.up("dev")
    assert outcome.ok, outcome.problems
    return outcome


def touched(outcome: Outcome) -> list[Step]:
    return [step for step in outcome.steps if step.op != "same"]


def kinds(outcome: Outcome) -> set[tuple[str, str]]:
    return {(step.op, step.type.split(":")[-1]) for step in touched(outcome)}


def gpus(limit: int) -> Change:
    def change(config: dict[str, Any]) -> None:
        config["headroom:gpuPools"][0]["gpuLimit"] = limit
        config["headroom:gpuBudget"]["maxGpus"] = limit

    return change


def test_another_gpu_limit_updates_the_pool_and_what_shows_it_in_place(program: Make) -> None:
    """Both limits leave each model a surge replica: no rollout changes with them."""
    outcome = after(program, gpus(10), before=gpus(8))
    assert kinds(outcome) == {("update", "NodePool"), ("update", "PrometheusRule"), ("update", "ConfigMap")}
    [step] = [step for step in touched(outcome) if step.type.endswith(":NodePool")]
    assert [change.path for change in step.diff] == ['spec.limits["nvidia.com/gpu"]']


def test_more_system_nodes_update_their_group_in_place(program: Make) -> None:
    outcome = after(
        program, lambda config: config["headroom:cluster"].update(systemNodes={"min": 3, "max": 4})
    )
    assert kinds(outcome) == {("update", "NodeGroup")}


def test_another_endpoint_replaces_nothing_in_the_cluster(program: Make) -> None:
    """PU2: the provider's kubeconfig may change; what it made stays."""
    outcome = after(program, lambda config: config["headroom:cluster"].update(endpoint={"public": False}))
    assert ("update", "Cluster") in kinds(outcome)
    assert {op for op, _ in kinds(outcome)} == {"update"}


def test_a_shorter_sync_of_the_hpa_updates_the_control_plane_in_place(program: Make) -> None:
    outcome = after(program, lambda config: config["headroom:cluster"].update(hpaSyncSeconds=10))
    [cluster] = [step for step in touched(outcome) if step.type == "aws:eks/cluster:Cluster"]
    assert cluster.op == "update"
    assert all(change.path.startswith("kubeControllerManagerConfig") for change in cluster.diff)
    assert {op for op, _ in kinds(outcome)} == {"update"}


def test_a_second_pool_comes_without_touching_the_first(program: Make) -> None:
    def add(config: dict[str, Any]) -> None:
        first = config["headroom:gpuPools"][0]
        config["headroom:gpuPools"].append(first | {"name": "second"})

    outcome = after(program, add)
    assert {(step.op, step.name) for step in touched(outcome)} == {
        ("create", "second-pool"),
        ("create", "second-node-class"),
        ("update", "alerts"),  # they name the pools
    }


@pytest.mark.parametrize("backend", ["efs", "fsx", "hub", "image"])
def test_every_source_of_weights_comes_up_and_goes(program: Make, backend: str) -> None:
    made = program("dev")
    made.configure(
        lambda config: config.update({"headroom:weights": {"backend": backend, "bucketRetain": False}})
    )
    outcome = made.cloud.up("dev")
    assert outcome.ok, outcome.problems
    assert [step.name for step in outcome.steps if step.type.startswith("aws:s3/")] == []
    gone = made.cloud.destroy("dev")
    assert gone.ok, gone.problems
