"""graceful-drain: requests in flight finish before the engine goes (VL5, DR8)."""

import pytest

from tests.unit.policies.programs import (
    IMAGE,
    UNKNOWN,
    Program,
    Props,
    container,
    deployment,
    edited,
    good,
    judged,
    messages,
    pod,
    pool,
)


def draining(grace: object, pre_stop: object = 20, shutdown: object = 60) -> list[str]:
    template = pod(1, terminationGracePeriodSeconds=grace)
    engine = template["spec"]["containers"][0]
    engine["lifecycle"] = {"preStop": {"sleep": {"seconds": pre_stop}}}
    engine["args"] = ["m", "--tensor-parallel-size", "1", "--shutdown-timeout", str(shutdown)]
    return messages("graceful-drain", {"model": deployment(template=template)})


def test_the_grace_must_exceed_the_sum_by_more_than_ten_seconds() -> None:
    assert draining(91) == []
    (message,) = draining(90)
    assert "more than 90 s" in message


def test_kubernetes_default_grace_of_thirty_is_too_short_for_this_drain() -> None:
    assert "terminationGracePeriodSeconds 30" in draining(None)[0]


@pytest.mark.parametrize(
    ("hook", "passes"),
    [
        ({"exec": {"command": ["sleep", "20"]}}, True),
        ({"exec": {"command": ["/bin/sh", "-c", "curl -XPOST router/remove; sleep 20"]}}, True),
        ({"exec": {"command": ["sh", "-c", "sleep 20 && sleep 20"]}}, False),
        ({"exec": {"command": ["sleep", "1m"]}}, False),
        ({"httpGet": {"path": "/drain", "port": 8000}}, True),
    ],
)
def test_every_form_of_pre_stop_is_counted(hook: Props, passes: bool) -> None:
    program = edited(
        {"m": deployment()}, "m", lambda props: container(props).update(lifecycle={"preStop": hook})
    )
    assert (messages("graceful-drain", program) == []) is passes


def test_a_pre_stop_that_cannot_be_read_is_reported() -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "sleep $DRAIN"]}}}
    program = edited({"m": deployment()}, "m", lambda props: container(props).update(lifecycle=hook))
    assert "can't be read" in messages("graceful-drain", program)[0]


def test_an_engine_without_any_drain_is_refused() -> None:
    program = edited(
        {"m": deployment()},
        "m",
        lambda props: container(props).update(lifecycle=None, args=["m", "-tp", "1"]),
    )
    assert "SIGTERM aborts the requests in flight" in messages("graceful-drain", program)[0]


def test_an_old_image_without_the_flag_drains_by_pre_stop_alone() -> None:
    old = {"image": "vllm/vllm-openai:v0.17.1", "args": ["m"]}
    program = edited({"m": deployment()}, "m", lambda props: container(props).update(old))
    assert messages("graceful-drain", program) == []


def test_an_old_image_with_the_flag_is_refused() -> None:
    old = {"image": "vllm/vllm-openai:v0.17.1"}
    program = edited({"m": deployment()}, "m", lambda props: container(props).update(old))
    assert "does not know --shutdown-timeout" in messages("graceful-drain", program)[0]


@pytest.mark.parametrize("where", ["grace", "hook", "args"])
def test_an_unknown_that_the_rule_needs_is_reported(where: str) -> None:
    def spoil(props: Props) -> None:
        if where == "grace":
            props["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = UNKNOWN
        elif where == "hook":
            container(props)["lifecycle"] = UNKNOWN
        else:
            container(props)["args"] = UNKNOWN

    found = messages("graceful-drain", edited({"m": deployment()}, "m", spoil))
    assert any("can't be read" in message for message in found)


def long_grace(program: Program, **spec: object) -> Program:
    return program | {"model": deployment(template=pod(1, terminationGracePeriodSeconds=120, **spec))}


def test_a_long_grace_is_refused_on_spot_and_allowed_on_demand() -> None:
    assert "at most 110 s" in messages("graceful-drain", long_grace(good()))[0]
    kind, props = pool()
    props["spec"]["template"]["spec"]["requirements"][1]["values"] = ["on-demand", "reserved"]
    assert messages("graceful-drain", long_grace(good() | {"pool": (kind, props)})) == []


def test_a_pool_without_a_capacity_type_may_be_spot() -> None:
    kind, props = pool()
    del props["spec"]["template"]["spec"]["requirements"][1]
    assert len(messages("graceful-drain", long_grace(good() | {"pool": (kind, props)}))) == 1


@pytest.mark.parametrize(
    "selection",
    [
        {"nodeSelector": {"karpenter.sh/capacity-type": "on-demand"}},
        {"nodeSelector": {"karpenter.sh/nodepool": "elsewhere"}},
        {"tolerations": []},
    ],
)
def test_a_pod_that_cannot_land_on_spot_may_take_its_time(selection: Props) -> None:
    assert messages("graceful-drain", long_grace(good(), **selection)) == []


def test_a_pod_that_asks_for_spot_is_judged_without_any_pool() -> None:
    program = long_grace({}, nodeSelector={"karpenter.sh/capacity-type": "spot"})
    assert len(messages("graceful-drain", program)) == 1


def test_the_notice_is_the_stacks_to_set() -> None:
    assert messages("graceful-drain", long_grace(good()), {"spotNoticeSeconds": 120}) == []


def test_a_container_that_only_holds_the_engines_image_needs_no_drain() -> None:
    spec = {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "i", "image": IMAGE, "command": ["sleep", "1d"]}],
    }
    pull = ("kubernetes:apps/v1:DaemonSet", {"metadata": {"name": "p"}, "spec": {"template": {"spec": spec}}})
    assert judged("graceful-drain", {"pull": pull}) == [("", "not applicable")]
