"""What counts as taken away."""

from __future__ import annotations

import pytest

from lab.cloud.outcome import Step
from tests.engine.upgrades.verdict import lost, removed


def step(op: str, kind: str, name: str = "it") -> Step:
    return Step(op=op, urn=f"urn:pulumi:dev::headroom::{kind}::{name}", type=kind, name=name)


@pytest.mark.parametrize("op", ["replace", "create-replacement", "delete-replaced", "delete"])
def test_a_replaced_or_deleted_resource_is_taken_away(op: str) -> None:
    assert removed([step(op, "aws:iam/role:Role")]) == ["aws:iam/role:Role it"]


@pytest.mark.parametrize("op", ["same", "update", "create", "refresh"])
def test_what_stays_or_comes_is_not(op: str) -> None:
    assert removed([step(op, "aws:iam/role:Role")]) == []


@pytest.mark.parametrize(
    "kind", ["aws:s3/bucket:Bucket", "aws:eks/cluster:Cluster", "kubernetes:core/v1:Namespace"]
)
def test_data_must_stay_and_a_role_may_go(kind: str) -> None:
    assert lost([step("delete", kind), step("delete", "aws:iam/role:Role")]) == [f"{kind} it"]
    assert lost([step("update", kind)]) == []


def test_a_release_that_owns_crds_must_stay() -> None:
    kind = "kubernetes:helm.sh/v3:Release"
    assert lost([step("replace", kind, "keda"), step("replace", kind, "gpu-metrics")]) == [f"{kind} keda"]
