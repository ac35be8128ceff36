"""Each check fails for what it is there to find, and for nothing near it."""

import math
from collections.abc import Callable, Hashable
from typing import Any

import pytest

from lab.doctor.kinds import (
    API_SERVICE,
    BUDGET,
    DEPLOYMENT,
    EC2_CLASS,
    HPA,
    NODE,
    NODE_POOL,
    POD,
    POD_MONITOR,
    RULE,
    SCALED_OBJECT,
)
from lab.doctor.seen import Signal, Unread
from specs.names import KARPENTER_NAMESPACE, KEDA_NAMESPACE
from tests.unit.lab.doctor.well import ASLEEP, AWAKE, POOL, SPACE, World, ago, condition

Change = Callable[[World], Any]
Case = tuple[str, Change, set[str], Change | None]
"""What is wrong, how, what fails of it, and a near twin of which nothing fails; None where that is the stack itself."""
PAUSED = "autoscaling.keda.sh/paused"
EXTERNAL = "v1beta1.external.metrics.k8s.io"


def of(*checks: str, model: str = AWAKE) -> set[str]:
    return {f"{model}/{check}" for check in checks}


def put(body: Any, *path: Hashable, to: Any) -> None:
    """Sets a value deep in a body."""
    for step in path[:-1]:
        body = body[step]
    body[path[-1]] = to


def scaled(world: World) -> Any:
    return world.object(SCALED_OBJECT, AWAKE)


def hpa(world: World, model: str = AWAKE) -> Any:
    return world.object(HPA, model)


def deployment(world: World, model: str = AWAKE) -> Any:
    return world.object(DEPLOYMENT, model)


def template(world: World, model: str = AWAKE) -> Any:
    return deployment(world, model)["spec"]["template"]["spec"]


def conditions(body: Any, *found: Any) -> None:
    body["status"]["conditions"] = list(found)


def annotate(**values: str) -> Change:
    return lambda world: put(
        scaled(world), "metadata", "annotations", to={f"{PAUSED}{key}": text for key, text in values.items()}
    )


def signal(end: str, age: float | None, *others: str, model: str = AWAKE) -> Change:
    def change(world: World) -> None:
        found, one = world.signal(end, model)
        found[one] = Signal(age, others)

    return change


def another_hpa(target: str) -> Change:
    return lambda world: world.all(HPA).append(
        {"metadata": {"name": "by-hand"}, "spec": {"scaleTargetRef": {"name": target}}}
    )


def another_budget(**labels: str) -> Change:
    return lambda world: world.all(BUDGET).append(
        {"metadata": {"name": "by-hand"}, "spec": {"selector": {"matchLabels": labels}}}
    )


def budget(**spec: Any) -> Change:
    def change(world: World) -> None:
        body = world.object(BUDGET, f"{AWAKE}-engine")
        body["spec"].pop("maxUnavailable")
        body["spec"] |= spec

    return change


def manager(subresource: str | None) -> Change:
    entry: dict[str, Any] = {
        "manager": "gitops",
        "subresource": subresource,
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
    }
    return lambda world: deployment(world)["metadata"]["managedFields"].append(entry)


def waits(pod_part: Any, seconds: float, *, placed: bool) -> Change:
    def change(world: World) -> None:
        pod = world.pod(pod_part)
        pod["metadata"]["creationTimestamp"] = ago(seconds)
        pod["status"]["conditions"] = [condition("PodScheduled", "True" if placed else "False")]
        if not placed:
            del pod["spec"]["nodeName"]

    return change


def taint(key: str, effect: str = "NoSchedule") -> Change:
    return lambda world: world.object(NODE, "gpu-1")["spec"]["taints"].append({"key": key, "effect": effect})


def reads(found: Any, metric: str = "s0-prometheus") -> Change:
    return lambda world: put(world.seen.external, (SPACE, AWAKE, metric), to=found)


def controller(name: str, namespace: str, ready: int) -> Change:
    body = {
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": name}},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": ready},
    }
    return lambda world: world.all(DEPLOYMENT, namespace).append(body)


def leased(seconds: float) -> Change:
    """A cluster whose controller manager renewed its lease so long ago."""

    def change(world: World) -> None:
        lease = {
            "metadata": {"name": "kube-controller-manager"},
            "spec": {"renewTime": ago(seconds), "leaseDurationSeconds": 15},
        }
        world.change(processes={})
        put(world.seen.objects, ("Lease", "kube-system"), to=[lease])

    return change


KEDA_CASES: list[Case] = [
    ("no ScaledObject", lambda w: w.drop(SCALED_OBJECT, AWAKE), of("scaled-object"), None),
    (
        "not ready",
        lambda w: conditions(scaled(w), condition("Ready", "False", "TriggerError")),
        of("scaled-object"),
        lambda w: conditions(scaled(w), condition("Ready"), condition("Active", "False")),
    ),
    ("paused", annotate(**{"": "true"}), of("not-paused"), annotate(**{"": "false"})),
    ("paused at a number", annotate(**{"-replicas": "0"}), of("not-paused"), None),
    ("no way down", annotate(**{"-scale-in": "true"}), of("not-paused"), annotate(**{"-scale-in": "false"})),
    (
        "in fallback",
        lambda w: conditions(scaled(w), condition("Ready"), condition("Fallback", "True")),
        of("fallback"),
        lambda w: conditions(scaled(w), condition("Ready"), condition("Fallback", "Unknown")),
    ),
    (
        "a trigger fails",
        lambda w: put(
            scaled(w), "status", "health", "s1-prometheus", to={"status": "Failing", "numberOfFailures": 3}
        ),
        of("fallback"),
        lambda w: put(
            scaled(w), "status", "health", "s1-prometheus", to={"status": "Failing", "numberOfFailures": 2}
        ),
    ),
    (
        "another range",
        lambda w: put(scaled(w), "spec", "maxReplicaCount", to=3),
        of("scaled-object-spec"),
        lambda w: put(scaled(w), "spec", "initialCooldownPeriod", to=0),
    ),
    (
        "a trigger with another threshold",
        lambda w: put(scaled(w), "spec", "triggers", 0, "metadata", "threshold", to="9"),
        of("triggers-spec"),
        lambda w: put(scaled(w), "spec", "triggers", 0, "useCachedMetrics", to=False),
    ),
    ("a trigger is gone", lambda w: scaled(w)["spec"]["triggers"].pop(), of("triggers-spec"), None),
    (
        "a trigger by hand",
        lambda w: scaled(w)["spec"]["triggers"].append({"name": "cpu", "type": "cpu"}),
        of("triggers-spec"),
        None,
    ),
]
HPA_CASES: list[Case] = [
    ("no HPA", lambda w: w.drop(HPA, AWAKE), of("hpa"), None),
    (
        "an HPA by hand",
        lambda w: put(hpa(w), "metadata", "ownerReferences", to=[]),
        of("hpa"),
        lambda w: hpa(w)["metadata"]["ownerReferences"].append({"kind": "Other", "name": "x"}),
    ),
    (
        "it reads no metric",
        lambda w: conditions(
            hpa(w), condition("AbleToScale"), condition("ScalingActive", "False", "FailedGetExternalMetric")
        ),
        of("hpa-active"),
        lambda w: conditions(
            hpa(w), condition("AbleToScale"), condition("ScalingActive"), condition("ScalingLimited")
        ),
    ),
    (
        "it may not scale",
        lambda w: conditions(
            hpa(w), condition("AbleToScale", "False", "FailedGetScale"), condition("ScalingActive")
        ),
        of("hpa-active"),
        None,
    ),
    (
        "off, and not at zero",
        lambda w: conditions(
            hpa(w), condition("AbleToScale"), condition("ScalingActive", "False", "ScalingDisabled")
        ),
        of("hpa-active"),
        lambda w: conditions(
            hpa(w, ASLEEP), condition("AbleToScale"), condition("ScalingActive", "False", "ScalingDisabled")
        ),
    ),
    (
        "another maximum",
        lambda w: put(hpa(w), "spec", "maxReplicas", to=3),
        of("hpa-spec"),
        lambda w: put(hpa(w, ASLEEP), "spec", "minReplicas", to=1),
    ),
    ("a metric too few", lambda w: hpa(w)["spec"]["metrics"].pop(), of("hpa-spec"), None),
    ("a second HPA", another_hpa(AWAKE), of("hpa-alone"), another_hpa("another")),
    (
        "a second ScaledObject",
        lambda w: w.all(SCALED_OBJECT).append(
            {"metadata": {"name": "two"}, "spec": {"scaleTargetRef": {"name": AWAKE}}}
        ),
        of("hpa-alone"),
        lambda w: w.all(SCALED_OBJECT).append(
            {"metadata": {"name": "two"}, "spec": {"scaleTargetRef": {"name": "x"}}}
        ),
    ),
]
SIGNAL_CASES: list[Case] = [
    (
        "a trigger without data",
        lambda w: w.answer("queue"),
        of("trigger:queue"),
        lambda w: w.answer("queue", 0.0),
    ),
    (
        "two elements",
        lambda w: w.answer("queue", 1.0, 2.0),
        of("trigger:queue"),
        lambda w: w.answer("queue", 1.0),
    ),
    (
        "no number",
        lambda w: w.answer("kv-cache", math.nan),
        of("trigger:kv-cache"),
        lambda w: w.answer("kv-cache", 1e9),
    ),
    (
        "Prometheus refuses the query",
        lambda w: put(w.seen.answers, (AWAKE, "queue"), to=Unread("parse error", "refused")),
        of("trigger:queue"),
        lambda w: put(w.seen.answers, (AWAKE, "queue"), to=w.seen.answers[(AWAKE, "kv-cache")]),
    ),
    (
        "an old sample",
        signal("requests_waiting", 60.0),
        of("trigger:queue"),
        signal("requests_waiting", 20.0),
    ),
    (
        "an old recorded sample",
        signal("forecast_requests:rate", 250.0),
        of("trigger:forecast"),
        signal("forecast_requests:rate", 60.0),
    ),
    (
        "a renamed series",
        signal("requests_waiting", None, 'model_name="x"'),
        of("series"),
        signal("processed_requests_total", None),
    ),
    (
        "nothing recorded",
        signal("reserved_requests:rate", None),
        of("series"),
        signal("requests_waiting", None, model=ASLEEP),
    ),
    (
        "nothing would wake it",
        signal("active_workers", None, model=ASLEEP),
        of("series", "signal-at-zero", model=ASLEEP),
        signal("active_workers", 20.0, model=ASLEEP),
    ),
    ("the HPA can't read one", reads(Unread("no matching metrics", "refused")), of("hpa-reads"), reads(0.0)),
]
TARGET_CASES: list[Case] = [
    ("no PodMonitor", lambda w: w.drop(POD_MONITOR, f"{AWAKE}-engine"), of("targets:engine"), None),
    (
        "scraped rarely",
        lambda w: put(
            w.object(POD_MONITOR, f"{AWAKE}-router"), "spec", "podMetricsEndpoints", 0, "interval", to="60s"
        ),
        of("targets:router"),
        lambda w: put(
            w.object(POD_MONITOR, f"{AWAKE}-router"), "spec", "podMetricsEndpoints", 0, "scheme", to="http"
        ),
    ),
    (
        "a target is down",
        lambda w: w.target("engine").update(health="down", lastError="connection refused"),
        of("targets:engine"),
        lambda w: w.target("engine").update(lastScrape=ago(20)),
    ),
    (
        "no target",
        lambda w: w.target("router").update(labels={"pod": "gone"}),
        of("targets:router"),
        lambda w: w.target("router").update(scrapePool=f"podMonitor/{SPACE}/{AWAKE}-router/1"),
    ),
    (
        "not scraped any more",
        lambda w: w.target("router").update(lastScrape=ago(90)),
        of("targets:router"),
        None,
    ),
    (
        "another interval in Prometheus",
        lambda w: w.target("router").update(scrapeInterval="30s"),
        of("targets:router"),
        lambda w: w.target("router").pop("scrapeInterval"),
    ),
    ("no PrometheusRule", lambda w: w.drop(RULE, AWAKE), of("rules"), None),
    (
        "an old rule",
        lambda w: put(w.object(RULE, AWAKE), "spec", "groups", 0, "rules", 0, "expr", to="vector(1)"),
        of("rules"),
        lambda w: put(w.object(RULE, AWAKE), "spec", "groups", 0, "rules", 0, "for", to=""),
    ),
    ("a group not loaded", lambda w: w.group(AWAKE).update(name="other"), of("rules"), None),
    (
        "a rule not loaded",
        lambda w: w.group(AWAKE)["rules"].pop(),
        of("rules"),
        lambda w: w.group(AWAKE)["rules"].append({"name": "x"}),
    ),
    (
        "a rule with an error",
        lambda w: w.group(AWAKE)["rules"][0].update(health="err", lastError="many-to-many matching"),
        of("rules"),
        lambda w: w.group(AWAKE)["rules"][0].update(health="unknown"),
    ),
    (
        "rules stand still",
        lambda w: w.group(AWAKE).update(lastEvaluation=ago(300)),
        of("rules"),
        lambda w: w.group(AWAKE).update(lastEvaluation=ago(60)),
    ),
]
POD_CASES: list[Case] = [
    ("somebody owns the replicas", manager(None), of("replicas-owner"), manager("scale")),
    (
        "no Deployment",
        lambda w: w.drop(DEPLOYMENT, ASLEEP),
        of("deployment", "tolerations", "drain:engine", model=ASLEEP),
        None,
    ),
    (
        "a stuck rollout",
        lambda w: conditions(deployment(w), condition("Progressing", "False", "ProgressDeadlineExceeded")),
        of("deployment"),
        lambda w: conditions(deployment(w), condition("Progressing"), condition("Available", "False")),
    ),
    (
        "a paused rollout",
        lambda w: put(deployment(w), "spec", "paused", to=True),
        of("deployment"),
        lambda w: put(deployment(w), "spec", "paused", to=False),
    ),
    (
        "below the floor",
        lambda w: put(deployment(w), "spec", "replicas", to=0),
        of("deployment"),
        lambda w: put(deployment(w), "spec", "replicas", to=3),
    ),
    (
        "no router",
        lambda w: put(deployment(w, f"{AWAKE}-router"), "status", to={}),
        of("router"),
        lambda w: put(deployment(w, f"{AWAKE}-router"), "status", "readyReplicas", to=2),
    ),
    (
        "no node for long",
        waits("engine", 130, placed=False),
        of("pending"),
        waits("engine", 110, placed=False),
    ),
    (
        "not ready for long",
        waits("engine", 2000, placed=True),
        of("pending"),
        waits("engine", 600, placed=True),
    ),
    (
        "no toleration",
        lambda w: template(w).update(tolerations=[]),
        of("tolerations"),
        lambda w: template(w).update(tolerations=[{"operator": "Exists"}]),
    ),
    (
        "a taint by hand",
        taint("team", "NoExecute"),
        of("tolerations") | of("tolerations", model=ASLEEP),
        taint("node.kubernetes.io/not-ready"),
    ),
    (
        "another pool",
        lambda w: template(w).update(nodeSelector={"karpenter.sh/nodepool": "other"}),
        of("node-selector"),
        lambda w: template(w).update(schedulerName="default-scheduler"),
    ),
    ("no budget", lambda w: w.drop(BUDGET, f"{AWAKE}-engine"), of("pdb:engine"), None),
    (
        "a budget that never lets go",
        budget(minAvailable=1),
        of("pdb:engine"),
        budget(maxUnavailable=1, minAvailable=None),
    ),
    (
        "all must stay",
        budget(minAvailable="100%"),
        of("pdb:engine"),
        budget(minAvailable=0, maxUnavailable=None),
    ),
    ("none may go", budget(maxUnavailable=0), of("pdb:engine"), budget(maxUnavailable="50%")),
    (
        "a second budget",
        another_budget(**{"headroom-model": AWAKE}),
        of("pdb:engine"),
        another_budget(**{"headroom-model": "other"}),
    ),
    (
        "too short a grace",
        lambda w: template(w).update(terminationGracePeriodSeconds=85),
        of("drain:engine"),
        lambda w: template(w).update(terminationGracePeriodSeconds=91),
    ),
    (
        "no wait before SIGTERM",
        lambda w: template(w)["containers"][0].pop("lifecycle"),
        of("drain:engine"),
        None,
    ),
    (
        "requests may last longer than the grace",
        lambda w: template(w)["containers"][0]["args"].extend(["--shutdown-timeout", "300"]),
        of("drain:engine"),
        lambda w: template(w)["containers"][0]["args"].extend(["--shutdown-timeout", "50"]),
    ),
    (
        "pods of an earlier template",
        lambda w: w.pod("engine")["spec"].update(terminationGracePeriodSeconds=30),
        of("drain:engine"),
        lambda w: w.pod("engine")["spec"].update(terminationGracePeriodSeconds=120),
    ),
    (
        "a router that can't wait",
        lambda w: template(w, f"{AWAKE}-router").update(terminationGracePeriodSeconds=100),
        of("drain:router"),
        lambda w: template(w, f"{AWAKE}-router").update(terminationGracePeriodSeconds=401),
    ),
]
STACK_CASES: list[Case] = [
    (
        "no NodePool",
        lambda w: w.drop(NODE_POOL, POOL),
        {"inference/node-pool", *of("tolerations"), *of("tolerations", model=ASLEEP)},
        None,
    ),
    (
        "a pool that is not ready",
        lambda w: conditions(w.object(NODE_POOL, POOL), condition("Ready", "False", "NodeClassNotReady")),
        {"inference/node-pool"},
        lambda w: conditions(
            w.object(NODE_POOL, POOL), condition("Ready"), condition("NodeRegistrationHealthy", "Unknown")
        ),
    ),
    (
        "a pool of other nodes",
        lambda w: put(w.object(NODE_POOL, POOL), "spec", "template", "spec", "requirements", to=[]),
        {"inference/node-pool"},
        lambda w: put(w.object(NODE_POOL, POOL), "spec", "weight", to=10),
    ),
    (
        "a class that is not ready",
        lambda w: conditions(
            w.object(EC2_CLASS, POOL), condition("Ready", "False"), condition("SubnetsReady", "False")
        ),
        {"inference/node-class"},
        None,
    ),
    (
        "a lower limit",
        lambda w: put(w.object(NODE_POOL, POOL), "spec", "limits", to={"nvidia.com/gpu": "2"}),
        {"inference/gpu-limit"},
        lambda w: put(w.object(NODE_POOL, POOL), "spec", "limits", to={"nvidia.com/gpu": 14}),
    ),
    (
        "a node without GPUs",
        lambda w: put(w.object(NODE, "gpu-1"), "status", "allocatable", to={}),
        {"inference/gpu-nodes"},
        lambda w: w.object(NODE, "gpu-1").update(
            status={}, metadata=w.object(NODE, "gpu-1")["metadata"] | {"creationTimestamp": ago(60)}
        ),
    ),
    (
        "a node that is not ready",
        lambda w: conditions(w.object(NODE, "gpu-1"), condition("Ready", "Unknown")),
        {"inference/gpu-nodes"},
        None,
    ),
    (
        "the external metrics are not served",
        lambda w: conditions(
            w.object(API_SERVICE, EXTERNAL), condition("Available", "False", "MissingEndpoints")
        ),
        {"stack/external-metrics"},
        None,
    ),
    (
        "no external metrics",
        lambda w: w.drop(API_SERVICE, EXTERNAL),
        {"stack/external-metrics"},
        None,
    ),
    (
        "KEDA is down",
        controller("keda-operator", KEDA_NAMESPACE, 0),
        {"stack/keda"},
        controller("keda-operator", KEDA_NAMESPACE, 1),
    ),
    (
        "KEDA went away",
        lambda w: put(w.seen.presence, "keda_build_info", to="lately"),
        {"stack/keda"},
        None,
    ),
    (
        "Karpenter is down",
        controller("karpenter", KARPENTER_NAMESPACE, 0),
        {"stack/karpenter"},
        controller("karpenter", KARPENTER_NAMESPACE, 2),
    ),
    (
        "the platform's rules are gone",
        lambda w: w.drop(RULE, "headroom", KARPENTER_NAMESPACE),
        {"stack/rules"},
        None,
    ),
    (
        "the Prometheus of another cluster",
        lambda w: w.change(targets=[]),
        {"stack/prometheus", *of("targets:engine", "targets:router"), *of("targets:router", model=ASLEEP)},
        None,
    ),
    (
        "KEDA's process is dead",
        lambda w: w.change(processes={**w.seen.processes, "keda-operator": "dead"}),
        {"stack/keda"},
        lambda w: w.change(processes={**w.seen.processes, "keda-operator": "well"}),
    ),
    (
        "the HPA controller's process is stopped",
        lambda w: w.change(processes={"controller-manager": "stopped"}),
        {"stack/hpa-controller"},
        None,
    ),
    (
        "nobody renews the HPA controller's lease",
        leased(90),
        {"stack/hpa-controller"},
        leased(20),
    ),
    (
        "Prometheus is down",
        lambda w: w.change(now=Unread("Connection refused")),
        {"stack/prometheus"},
        None,
    ),
]
CASES = KEDA_CASES + HPA_CASES + SIGNAL_CASES + TARGET_CASES + POD_CASES + STACK_CASES


@pytest.mark.parametrize(("change", "fails"), [case[1:3] for case in CASES], ids=[case[0] for case in CASES])
def test_a_check_finds_what_is_wrong(change: Change, fails: set[str]) -> None:
    world = World()
    change(world)
    assert world.failing() == fails
    assert all(one.mend for one in world.examined() if one.verdict == "fail")


@pytest.mark.parametrize(
    "twin", [case[3] for case in CASES if case[3]], ids=[case[0] for case in CASES if case[3]]
)
def test_its_near_twin_is_well(twin: Change) -> None:
    world = World()
    twin(world)
    assert world.failing() == set()


def test_every_check_has_been_refuted() -> None:
    """A check that can't fail is none."""
    able = {name.partition("/")[2] for case in CASES for name in case[2]}
    known = {one.check for one in World().examined()}
    # Those need no case of their own kind, or have a test of their own: quota, image-cached.
    rest = {check for check in known - able if not check.startswith("trigger:")}
    assert rest == {"quota", "image-cached"}


def test_evidence_has_the_reason_and_the_numbers() -> None:
    world = World()
    waits("engine", 130, placed=False)(world)
    event = {
        "reason": "FailedScheduling",
        "message": "0/3 nodes: Insufficient nvidia.com/gpu",
        "lastTimestamp": ago(5),
    }
    put(world.seen.events, world.pod("engine")["metadata"]["uid"], to=[event])
    told = world.finding(f"{AWAKE}/pending").evidence
    assert "without a node for 130 s, at most 120" in told
    assert "FailedScheduling: 0/3 nodes: Insufficient nvidia.com/gpu" in told


def test_a_pod_that_is_leaving_is_not_missed() -> None:
    world = World()
    waits("engine", 5000, placed=True)(world)
    world.pod("engine")["metadata"]["deletionTimestamp"] = ago(10)
    assert f"{AWAKE}/pending" not in world.failing()
    assert world.all(POD)
