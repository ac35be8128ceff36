"""gpu-pool-disruption: GPU nodes go only when empty, on time, and with a deadline (DR1, DR2, KP25)."""

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    deployment,
    edited,
    good,
    judged,
    messages,
    pod,
    pool,
)


def node(**fields: object) -> Program:
    def spoil(props: Props) -> None:
        for key, value in fields.items():
            if value is None:
                props["spec"]["template"]["spec"].pop(key, None)
            else:
                props["spec"]["template"]["spec"][key] = value

    return edited({"pool": pool()}, "pool", spoil)


def disruption(**fields: object) -> Program:
    return {"pool": pool(disruption=fields)}


@pytest.mark.parametrize("taints", [None, [], [{"key": "a", "effect": "PreferNoSchedule"}], UNKNOWN])
def test_a_gpu_pool_without_a_taint_is_refused(taints: object) -> None:
    assert "NoSchedule or NoExecute taint" in messages("gpu-pool-disruption", node(taints=taints))[0]


def test_a_startup_taint_is_no_taint() -> None:
    program = node(taints=None, startupTaints=[{"key": "a", "effect": "NoExecute"}])
    assert len(messages("gpu-pool-disruption", program)) == 1


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_any_lasting_taint_passes(effect: str) -> None:
    assert messages("gpu-pool-disruption", node(taints=[{"key": "team", "effect": effect}])) == []


@pytest.mark.parametrize("policy", [None, "WhenEmptyOrUnderutilized", "Balanced", UNKNOWN])
def test_consolidating_nodes_in_use_is_refused(policy: object) -> None:
    assert "WhenEmpty" in messages("gpu-pool-disruption", disruption(consolidationPolicy=policy))[0]


def test_a_pool_may_be_opted_in() -> None:
    program = disruption(consolidationPolicy="Balanced")
    assert messages("gpu-pool-disruption", program, {"underutilizedPools": ["inference"]}) == []
    assert len(messages("gpu-pool-disruption", program, {"underutilizedPools": ["other"]})) == 1


def test_consolidation_that_never_happens_passes() -> None:
    assert messages("gpu-pool-disruption", disruption(consolidateAfter="Never")) == []


@pytest.mark.parametrize("expiry", [None, "168h", UNKNOWN])
def test_an_expiry_without_a_termination_grace_is_refused(expiry: object) -> None:
    found = messages("gpu-pool-disruption", node(expireAfter=expiry, terminationGracePeriod=None))
    assert "only with a termination grace" in found[0]


def test_a_pool_that_never_expires_needs_no_grace() -> None:
    assert messages("gpu-pool-disruption", node(expireAfter="Never", terminationGracePeriod=None)) == []


def test_an_expiry_in_the_old_place_is_refused() -> None:
    program = disruption(consolidationPolicy="WhenEmpty", expireAfter="720h")
    assert "spec.template.spec.expireAfter" in messages("gpu-pool-disruption", program)[0]


@pytest.mark.parametrize(
    ("grace", "refused"), [("100s", True), ("99s", True), ("101s", False), ("2m", False)]
)
def test_the_pools_grace_must_be_above_its_pods(grace: str, refused: bool) -> None:
    program = node(terminationGracePeriod=grace) | {"model": deployment()}
    assert (messages("gpu-pool-disruption", program) != []) is refused


def test_pods_of_another_pool_do_not_count() -> None:
    elsewhere = deployment(template=pod(1, nodeSelector={"karpenter.sh/nodepool": "other"}))
    assert messages("gpu-pool-disruption", node(terminationGracePeriod="60s") | {"model": elsewhere}) == []


@pytest.mark.parametrize("grace", ["soon", 1800, UNKNOWN])
def test_a_grace_that_is_no_duration_is_reported(grace: object) -> None:
    assert (
        'duration such as "1800s"' in messages("gpu-pool-disruption", node(terminationGracePeriod=grace))[0]
    )


def test_a_cpu_pool_may_do_as_it_likes() -> None:
    program = disruption(consolidationPolicy="WhenEmptyOrUnderutilized")
    program["pool"][1]["spec"]["template"]["spec"]["requirements"] = [
        {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["m"]}
    ]
    assert judged("gpu-pool-disruption", program) == [("", "not applicable")]


def test_a_general_pool_with_a_gpu_limit_of_zero_may_do_as_it_likes() -> None:
    general: Props = {"limits": {"nvidia.com/gpu": 0}, "template": {"spec": {}}}
    assert judged("gpu-pool-disruption", {"pool": pool(**general)}) == [("", "not applicable")]


def test_the_good_program_passes() -> None:
    assert messages("gpu-pool-disruption", good()) == []
