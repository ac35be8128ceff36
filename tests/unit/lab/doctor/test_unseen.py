"""What can't be seen is unknown and never a pass; what is not asked for does not apply."""

from collections.abc import Callable
from typing import Any

import pytest

from lab.doctor.finding import Finding, Verdict, worst
from lab.doctor.kinds import DEPLOYMENT, HPA, NODE, POD, SCALED_OBJECT
from lab.doctor.seen import Unread
from planner.preflight.check import Check
from specs.settings.stack import Settings
from tests.unit.lab.doctor.well import ASLEEP, AWAKE, SPACE, World, ago
from tests.unit.specs.stack import settings as stack

AWAY = Unread("Connection refused")
IMAGES = "image-cached"


def finding(verdict: Verdict) -> Finding:
    return Finding("x", "stack", verdict, "seen")


@pytest.mark.parametrize(
    ("found", "all_in_all"),
    [
        (["pass", "not-applicable"], "pass"),
        (["pass", "unknown"], "unknown"),
        (["pass", "unknown", "fail"], "fail"),
        (["not-applicable"], "unknown"),
        ([], "unknown"),
    ],
)
def test_unknown_is_never_a_pass(found: list[Verdict], all_in_all: str) -> None:
    assert worst(map(finding, found)) == all_in_all


def test_without_prometheus_all_that_rests_on_it_is_unknown() -> None:
    world = World()
    seen: Any = world.seen
    for kept in (seen.answers, seen.signals, seen.presence):
        kept.update(dict.fromkeys(kept, AWAY))
    world.change(now=AWAY, targets=AWAY, groups=AWAY)
    verdicts = world.verdicts()
    assert world.failing() == {"stack/prometheus"}  # the address that KEDA asks
    resting = [
        name
        for name in verdicts
        if any(word in name for word in ("trigger:", "series", "rules", "targets", "keda"))
    ]
    assert len(resting) > 15
    assert {verdicts[name] for name in resting} == {"unknown"}


def test_a_prometheus_that_only_this_machine_can_not_reach_is_unknown() -> None:
    world = World()
    world.change(now=AWAY, prometheus="http://127.0.0.1:9999")
    assert world.verdicts()["stack/prometheus"] == "unknown"


@pytest.mark.parametrize(
    ("kind", "checks"),
    [
        (SCALED_OBJECT, ["scaled-object", "hpa-reads"]),
        (HPA, ["hpa"]),
        (POD, ["pending", "series", "targets:engine"]),
        (DEPLOYMENT, ["deployment", "router", "tolerations", "drain:engine"]),
    ],
)
def test_without_the_right_to_read_a_kind_its_checks_are_unknown(kind: Any, checks: list[str]) -> None:
    world = World()
    put: Any = world.seen.objects
    put[(kind.name, SPACE)] = Unread("not permitted: no")
    verdicts = world.verdicts()
    assert {verdicts[f"{AWAKE}/{check}"] for check in checks} == {"unknown"}
    assert world.failing() == set()


def test_a_kind_that_the_server_does_not_know_is_a_failure() -> None:
    world = World()
    put: Any = world.seen.objects
    put[(SCALED_OBJECT.name, SPACE)] = Unread("the API server does not know the kind", "absent")
    assert world.failing() == {f"{AWAKE}/scaled-object", f"{ASLEEP}/scaled-object"}


def _no_engine(world: World) -> None:
    world.pod("engine")["status"]["conditions"] = []
    world.pod("engine")["metadata"]["creationTimestamp"] = ago(30)
    world.answer("queue")


def _not_evaluated(world: World) -> None:
    world.group(AWAKE)["lastEvaluation"] = "0001-01-01T00:00:00Z"
    signals, one = world.signal("forecast_requests:rate")
    signals[one] = type(signals[one])(None)


def _young(world: World) -> None:
    world.object(HPA, AWAKE)["status"] = {}


def _woke(world: World) -> None:
    world.object(DEPLOYMENT, ASLEEP)["spec"]["replicas"] = 1


def _no_managers(world: World) -> None:
    del world.object(DEPLOYMENT, AWAKE)["metadata"]["managedFields"]


@pytest.mark.parametrize(
    ("change", "name", "verdict"),
    [
        (_no_engine, f"{AWAKE}/trigger:queue", "unknown"),
        (_not_evaluated, f"{AWAKE}/series", "pass"),
        (_young, f"{AWAKE}/hpa-active", "unknown"),
        (_woke, f"{ASLEEP}/hpa-active", "unknown"),
        (_no_managers, f"{AWAKE}/replicas-owner", "unknown"),
    ],
)
def test_what_is_not_due_yet_is_no_failure(change: Callable[[World], None], name: str, verdict: str) -> None:
    world = World()
    change(world)
    assert world.verdicts()[name] == verdict
    assert world.failing() == set()


@pytest.mark.parametrize(
    ("presence", "installed", "lab", "verdict"),
    [
        ("now", False, False, "pass"),
        ("never", False, False, "unknown"),
        ("now", True, False, "fail"),
        ("never", True, True, "pass"),
    ],
)
def test_a_controller_without_a_deployment_is_known_by_its_metrics_unless_the_stack_installs_it(
    presence: Any, installed: bool, lab: bool, verdict: str
) -> None:
    world = World()
    world.change(presence=dict.fromkeys(world.seen.presence, presence))
    if lab:
        world.change(processes={"keda-operator": "well", "karpenter": "well"})
    part = {"install": installed}
    platform = world.settings.platform
    changed = {name: getattr(platform, name).model_copy(update=part) for name in ("keda", "karpenter")}
    world.settings = world.settings.model_copy(update={"platform": platform.model_copy(update=changed)})
    assert {world.verdicts()[f"stack/{name}"] for name in ("keda", "karpenter")} == {verdict}


def warm() -> Settings:
    return stack({"namespace": SPACE, "scaling": {"warmSpares": 1}})


def _images(*names: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        node = world.object(NODE, "gpu-1")
        node["status"]["images"] = [{"names": [name]} for name in names]

    return change


def _new(world: World) -> None:
    world.object(NODE, "gpu-1")["metadata"]["creationTimestamp"] = ago(20)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (_images("docker.io/vllm/vllm-openai:v0.33.0"), "pass"),
        (_images("docker.io/vllm/vllm-openai:v0.32.0"), "fail"),
        (_images(*(f"x/y:{number}" for number in range(50))), "unknown"),
        (_images(), "unknown"),
        (_new, "unknown"),
    ],
    ids=["there", "another version", "not among the largest", "not told", "a young node"],
)
def test_where_a_warm_tier_is_claimed_the_image_is_on_the_nodes(
    change: Callable[[World], None], verdict: str
) -> None:
    world = World(warm())
    change(world)
    assert world.verdicts()[f"{AWAKE}/{IMAGES}"] == verdict


def test_quotas_are_those_of_preflight() -> None:
    world = World()
    assert world.verdicts()["stack/quota"] == "not-applicable"
    world.change(lab=False)
    assert world.verdicts()["stack/quota"] == "unknown"
    world.change(quotas=[Check("quota:L-DB2E81BA", "fail", "8 vCPU", "96 vCPU", "request 96")])
    found = world.finding("stack/quota:L-DB2E81BA")
    assert (found.verdict, found.evidence, found.mend) == ("fail", "8 vCPU; needed 96 vCPU", "request 96")


@pytest.mark.parametrize(("told", "verdict"), [("1m30s", "pass"), ("1m", "fail")])
def test_an_interval_may_be_written_in_minutes(told: str, verdict: str) -> None:
    rarely = {"install": False, "scrapeSeconds": 90, "address": "http://prometheus:9090"}
    world = World(stack({"namespace": SPACE}, platform={"prometheus": rarely}))
    for target in (world.target("engine"), world.target("router")):
        target.update(scrapeInterval=told)
    assert world.verdicts()[f"{AWAKE}/targets:engine"] == verdict
