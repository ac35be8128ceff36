"""gpu-limit: every pool that can offer GPUs is bounded, and the bounds fit the cap."""

from typing import Any

import pytest

from tests.unit.policies.programs import UNKNOWN, Program, judged, messages, pool

CAP = {"maxGpus": 16}


def pools(*limits: object) -> Program:
    return {f"pool-{index}": pool(limits={"nvidia.com/gpu": limit}) for index, limit in enumerate(limits)}


def requiring(key: str, operator: str, *values: str, limits: dict[str, object] | None = None) -> Program:
    kind, props = pool(limits={} if limits is None else limits)
    props["spec"]["template"]["spec"]["requirements"] = [
        {"key": key, "operator": operator, "values": list(values)}
    ]
    return {"pool": (kind, props)}


@pytest.mark.parametrize("limit", [16, 16.0, "16", "16000m", "0.016k"])
def test_a_limit_at_the_cap_passes_however_it_is_written(limit: object) -> None:
    assert messages("gpu-limit", pools(limit), CAP) == []


def test_a_limit_above_the_cap_is_refused_with_both_numbers() -> None:
    (message,) = messages("gpu-limit", pools("17"), CAP)
    assert "17 GPUs" in message
    assert "at most 16 (maxGpus)" in message


def test_pools_that_fit_alone_are_refused_together() -> None:
    (message,) = messages("gpu-limit", pools(10, "8"), CAP)
    assert "18 GPUs" in message


def test_pools_that_fit_together_pass() -> None:
    assert messages("gpu-limit", pools(8, 8), CAP) == []


def test_a_pool_without_a_limit_is_refused() -> None:
    (message,) = messages("gpu-limit", {"pool": pool(limits={"cpu": "100"})}, CAP)
    assert "names no nvidia.com/gpu" in message


def test_a_pool_without_any_limits_is_refused_at_any_api_version() -> None:
    _, props = pool()
    del props["spec"]["limits"]
    program: Program = {"pool": ("kubernetes:karpenter.sh/v1beta1:NodePool", props)}
    assert len(messages("gpu-limit", program, CAP)) == 1


def test_an_unset_cap_means_no_gpus() -> None:
    (message,) = messages("gpu-limit", pools(1), {})
    assert "at most 0" in message


@pytest.mark.parametrize(
    ("key", "operator", "values"),
    [
        ("karpenter.k8s.aws/instance-category", "In", ["c", "m", "r"]),
        ("karpenter.k8s.aws/instance-category", "NotIn", ["g", "gr", "p"]),
        ("karpenter.k8s.aws/instance-family", "In", ["m7i", "g4ad", "inf2"]),
        ("node.kubernetes.io/instance-type", "In", ["m7i.large"]),
        ("karpenter.k8s.aws/instance-gpu-count", "DoesNotExist", []),
        ("karpenter.k8s.aws/instance-gpu-count", "In", ["0"]),
        ("karpenter.k8s.aws/instance-gpu-count", "Lt", ["1"]),
        ("eks.amazonaws.com/instance-gpu-name", "DoesNotExist", []),
        ("karpenter.k8s.aws/instance-gpu-manufacturer", "In", ["habana"]),
    ],
)
def test_a_pool_that_leaves_gpu_types_out_needs_no_limit(key: str, operator: str, values: list[str]) -> None:
    assert judged("gpu-limit", requiring(key, operator, *values), CAP) == [("", "not applicable")]


@pytest.mark.parametrize(
    ("key", "operator", "values"),
    [
        ("karpenter.sh/capacity-type", "In", ["spot"]),
        ("karpenter.k8s.aws/instance-category", "In", ["c", "g"]),
        ("karpenter.k8s.aws/instance-category", "NotIn", ["c"]),
        ("karpenter.k8s.aws/instance-family", "In", ["m7i", "gr6"]),
        ("node.kubernetes.io/instance-type", "In", ["p5.48xlarge"]),
        ("karpenter.k8s.aws/instance-gpu-count", "Gt", ["0"]),
        ("karpenter.k8s.aws/instance-cpu", "Gt", ["4"]),
        ("node.kubernetes.io/instance-type", "In", ["gpu-a10g-small"]),
    ],
)
def test_a_pool_that_may_launch_gpu_types_needs_a_limit(key: str, operator: str, values: list[str]) -> None:
    assert len(messages("gpu-limit", requiring(key, operator, *values), CAP)) == 1


def test_a_limit_of_zero_keeps_a_general_pool_out_of_the_sum() -> None:
    program = requiring("kubernetes.io/arch", "In", "amd64", limits={"nvidia.com/gpu": 0})
    assert judged("gpu-limit", program, CAP) == [("", "not applicable")]


@pytest.mark.parametrize("limit", [UNKNOWN, "many", -1, True, "16 GPUs"])
def test_a_limit_that_cannot_be_read_is_reported(limit: object) -> None:
    assert "known in preview" in messages("gpu-limit", pools(limit), CAP)[0]


def test_an_unknown_in_one_pool_does_not_hide_another_pools_violation() -> None:
    found = judged("gpu-limit", pools(UNKNOWN, 17), CAP)
    assert {name for name, _ in found} == {"pool-0", "pool-1"}


def static(replicas: object, **limits: object) -> Program:
    kind, props = pool(replicas=replicas, limits=limits)
    props["spec"]["template"]["spec"]["requirements"] = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.12xlarge"]}
    ]
    return {"static": (kind, props)}


def test_a_static_pool_counts_its_nodes_times_their_gpus() -> None:
    assert messages("gpu-limit", static(4), CAP) == []
    assert "20 GPUs" in messages("gpu-limit", static(5), CAP)[0]


def test_a_static_pool_counts_the_nodes_a_replacement_may_add() -> None:
    assert "20 GPUs" in messages("gpu-limit", static(4, nodes=5), CAP)[0]


def test_a_static_pool_of_a_type_without_a_known_gpu_count_is_reported() -> None:
    kind, props = static(1)["static"]
    props["spec"]["template"]["spec"]["requirements"][0]["values"] = ["g99.huge"]
    assert "unknown GPU count" in messages("gpu-limit", {"static": (kind, props)}, CAP)[0]


def test_a_patch_that_raises_the_limit_is_judged_over_its_pool() -> None:
    patch: tuple[str, dict[str, Any]] = (
        "kubernetes:karpenter.sh/v1:NodePoolPatch",
        {"metadata": {"name": "inference"}, "spec": {"limits": {"nvidia.com/gpu": 40}}},
    )
    (message,) = messages("gpu-limit", {"pool": pool(), "patch": patch}, CAP)
    assert "40 GPUs" in message


def test_a_patch_that_says_nothing_of_limits_is_not_missing_one() -> None:
    patch = ("kubernetes:karpenter.sh/v1:NodePoolPatch", {"metadata": {"name": "x", "labels": {"a": "b"}}})
    assert messages("gpu-limit", {"patch": patch}, CAP) == []


def test_pools_inside_a_list_are_judged_one_by_one() -> None:
    entries = [{**pool(limits=limits)[1], "kind": "NodePool"} for limits in ({"nvidia.com/gpu": 8}, {})]
    program: Program = {"pools": ("kubernetes:karpenter.sh/v1:NodePoolList", {"items": entries})}
    assert len(messages("gpu-limit", program, CAP)) == 1


def group(**fields: object) -> Program:
    return {"nodes": ("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["g5.12xlarge"], **fields})}


def test_a_managed_node_group_counts_its_largest_size() -> None:
    assert messages("gpu-limit", group(scalingConfig={"maxSize": 4}), CAP) == []
    assert "20 GPUs" in messages("gpu-limit", group(scalingConfig={"maxSize": 5}), CAP)[0]
    assert "20 GPUs" in messages("gpu-limit", group(scalingConfig={"maxSize": 2}) | pools(12), CAP)[0]


def test_a_node_group_of_unknown_size_is_reported() -> None:
    assert "can't be counted" in messages("gpu-limit", group(scalingConfig={"maxSize": UNKNOWN}), CAP)[0]


def test_a_node_group_without_gpus_is_not_applicable() -> None:
    program: Program = {"nodes": ("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["m7i.large"]})}
    assert judged("gpu-limit", program, CAP) == [("", "not applicable")]
