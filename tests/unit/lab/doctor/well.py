"""The local stack as it is seen when all is well: one model with an engine, one at zero. Tests change one thing."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, cast

from lab.control.parts.keda import EXTERNAL_METRICS
from lab.doctor import selectors
from lab.doctor.checks import examine
from lab.doctor.finding import Finding
from lab.doctor.kinds import (
    API_SERVICE,
    BUDGET,
    DAEMON_SET,
    DEPLOYMENT,
    EC2_CLASS,
    HPA,
    KWOK_CLASS,
    NODE,
    NODE_POOL,
    POD,
    POD_MONITOR,
    RULE,
    SCALED_OBJECT,
    Kind,
)
from lab.doctor.seen import Element, Seen, Selector, Signal
from specs import engine_pod, nodes, router, serving, warm
from specs.alerts.rules import platform_rule
from specs.demand import prometheus_rule
from specs.labels import Part, labels
from specs.metrics_names import engine_labels
from specs.monitors import pod_monitor
from specs.names import KARPENTER_NAMESPACE, KEDA_NAMESPACE
from specs.scaling import scaled_object, server_address
from specs.settings.model import Model
from specs.settings.stack import Settings
from tests.unit.lab.fleet.bodies import local

Body = dict[str, Any]
AT = 1_796_100_000.0
SPACE = "llm-serving"
AWAKE, ASLEEP, POOL = "llama3-8b", "mistral-7b", "inference"


def ago(seconds: float) -> str:
    """A moment so long before the look, as Kubernetes and Prometheus write it."""
    return datetime.fromtimestamp(AT - seconds, UTC).isoformat().replace("+00:00", "Z")


def condition(kind: str, status: str = "True", reason: str = "Because", message: str = "") -> Body:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": ago(600),
    }


class World:
    """What `Seen` is made of, to be changed in place. `settings` may be changed before `examined` only together with
    the objects that follow from it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or LOCAL
        self.seen = _seen(settings) if settings else deepcopy(WELL)

    def object(self, kind: Kind, name: str, namespace: str = SPACE) -> Body:
        """The live object."""
        space = namespace if kind.namespaced else ""
        found = cast(list[Body], self.seen.objects[(kind.name, space)])
        return next(one for one in found if one["metadata"]["name"] == name)

    def all(self, kind: Kind, namespace: str = SPACE) -> list[Body]:
        """The live objects of a kind."""
        return cast(list[Body], self.seen.objects[(kind.name, namespace if kind.namespaced else "")])

    def drop(self, kind: Kind, name: str, namespace: str = SPACE) -> None:
        """Takes an object away."""
        self.all(kind, namespace).remove(self.object(kind, name, namespace))

    def pod(self, part: Part, model: str = AWAKE) -> Body:
        """The one pod of a part."""
        return self.object(POD, f"{model}-{part}")

    def signal(self, end: str, model: str = AWAKE) -> tuple[dict[Selector, Signal], Selector]:
        """The signals of a model, and the one whose name ends so."""
        signals = cast(dict[Selector, Signal], self.seen.signals[model])
        return signals, next(one for one in signals if one.name.endswith(end))

    def answer(self, trigger: str, *values: float, model: str = AWAKE) -> None:
        """What a trigger's query gives instead."""
        found = [
            Element({} if len(values) < 2 else {"pod": str(at)}, value) for at, value in enumerate(values)
        ]
        cast(dict[Any, Any], self.seen.answers)[(model, trigger)] = found

    def target(self, part: Part, model: str = AWAKE) -> Body:
        """The scrape target of a part's pod."""
        found = cast(list[Body], self.seen.targets)
        return next(one for one in found if one["labels"]["pod"] == f"{model}-{part}")

    def group(self, end: str) -> Body:
        """The loaded rule group whose name ends so."""
        return next(one for one in cast(list[Body], self.seen.groups) if one["name"].endswith(end))

    def change(self, **fields: Any) -> None:
        """Other fields of what was seen."""
        self.seen = replace(self.seen, **fields)

    def examined(self) -> list[Finding]:
        """All findings."""
        return list(examine(self.seen, self.settings))

    def verdicts(self) -> Mapping[str, str]:
        """Verdicts by `of/check`."""
        return {f"{one.of}/{one.check}": one.verdict for one in self.examined()}

    def failing(self) -> set[str]:
        """What fails."""
        return {name for name, verdict in self.verdicts().items() if verdict == "fail"}

    def finding(self, name: str) -> Finding:
        """The finding of that `of/check`."""
        return next(one for one in self.examined() if f"{one.of}/{one.check}" == name)


def _seen(settings: Settings) -> Seen:
    objects: dict[tuple[str, str], Any] = {}
    for kind, space, body in _bodies(settings):
        objects.setdefault((kind.name, space if kind.namespaced else ""), []).append(deepcopy(body))
    for kind in (KWOK_CLASS, EC2_CLASS):
        objects.setdefault((kind.name, ""), [])
    for kind in (DAEMON_SET, POD):
        objects.setdefault((kind.name, SPACE), [])
    for space in (KEDA_NAMESPACE, KARPENTER_NAMESPACE):
        objects.setdefault((DEPLOYMENT.name, space), [])
    models = settings.active_models
    return Seen(
        at=AT,
        lab=True,
        processes={"controller-manager": "well"},
        objects=objects,
        prometheus=server_address(settings),
        now=AT,
        answers={
            (model.name, name): [Element({}, 0.42)]
            for model in models
            for name in selectors.queries(settings, model)
        },
        signals={model.name: _signals(settings, model) for model in models},
        external={
            (SPACE, model.name, metric): 0.42 for model in models for metric in _metrics(settings, model)
        },
        targets=[
            _target(model, part)
            for model in models
            for part in (("engine", "router") if model.replicas.min else ("router",))
        ],
        groups=[
            _group(group)
            for body in (platform_rule(settings), *(prometheus_rule(settings, model) for model in models))
            for group in cast(Body, body)["spec"]["groups"]
        ],
        presence={"keda_build_info": "now", "karpenter_build_info": "now"},
    )


def _signals(settings: Settings, model: Model) -> dict[Selector, Signal]:
    """All fresh; engines' series only where there is an engine."""
    return {
        one: Signal(None if not model.replicas.min and set(engine_labels(model)) <= set(one.labels) else 2.0)
        for one in selectors.of_model(settings, model)
    }


def _metrics(settings: Settings, model: Model) -> list[str]:
    return [f"s{at}-prometheus" for at, _ in enumerate(selectors.triggers(settings, model))]


def _target(model: Model, part: str) -> Body:
    return {
        "scrapePool": f"podMonitor/{SPACE}/{model.name}-{part}/0",
        "labels": {"pod": f"{model.name}-{part}"},
        "health": "up",
        "lastError": "",
        "lastScrape": ago(2),
        "scrapeInterval": "5s",
    }


def _group(group: Body) -> Body:
    rules = [{"name": one.get("record") or one["alert"], "health": "ok"} for one in group["rules"]]
    return {"name": group["name"], "interval": 30, "lastEvaluation": ago(12), "rules": rules}


def _bodies(settings: Settings) -> Iterator[tuple[Kind, str, Body]]:
    space = KARPENTER_NAMESPACE
    yield RULE, space, cast(Body, platform_rule(settings))
    group, version = EXTERNAL_METRICS.split("/")
    yield (
        API_SERVICE,
        "",
        {
            "metadata": {"name": f"{version}.{group}"},
            "spec": {"service": {"namespace": "keda", "name": "adapter"}},
            "status": {"conditions": [condition("Available")]},
        },
    )
    for pool in settings.gpu_pools:
        body = cast(Body, nodes.node_pool(settings, pool))
        yield (
            NODE_POOL,
            "",
            body | {"status": {"conditions": [condition("Ready")], "resources": {engine_pod.GPU: "1"}}},
        )
        name = {"name": pool.name}
        yield EC2_CLASS, "", {"metadata": name, "spec": {}, "status": {"conditions": [condition("Ready")]}}
        yield NODE, "", _node(body, pool.name)
    for model in settings.active_models:
        for kind, body in _of_model(settings, model):
            yield kind, model.namespace, body


def _node(pool: Body, name: str) -> Body:
    template = pool["spec"]["template"]
    return {
        "metadata": {
            "name": "gpu-1",
            "creationTimestamp": ago(3600),
            "labels": {"karpenter.sh/nodepool": name, **template["metadata"]["labels"]},
        },
        "spec": {"taints": template["spec"]["taints"]},
        "status": {"conditions": [condition("Ready")], "allocatable": {engine_pod.GPU: "1"}},
    }


def _of_model(settings: Settings, model: Model) -> Iterator[tuple[Kind, Body]]:
    up = min(1, model.replicas.min)
    engines = cast(Body, serving.deployment(settings, model))
    engines["metadata"]["managedFields"] = [
        {"manager": "pulumi", "fieldsV1": {"f:spec": {"f:template": {}}}},
        {"manager": "keda", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    ]
    engines["spec"]["replicas"] = up
    yield DEPLOYMENT, engines | {"status": {"readyReplicas": up, "conditions": [condition("Progressing")]}}
    routers = cast(Body, router.deployment(settings, model))
    yield DEPLOYMENT, routers | {"status": {"readyReplicas": settings.platform.router.replicas}}
    if up:
        yield POD, pod(model, "engine", engines)
    yield POD, pod(model, "router", routers)
    yield from _scaling(settings, model, up)
    yield RULE, cast(Body, prometheus_rule(settings, model))
    for part in ("engine", "router"):
        yield POD_MONITOR, cast(Body, pod_monitor(settings, model, part))
    budget = cast(Body, serving.disruption_budget(model, "engine"))
    yield BUDGET, budget | {"status": {"disruptionsAllowed": up, "currentHealthy": up, "expectedPods": up}}
    puller = warm.image_puller(settings, model)
    if puller is not None:
        yield DAEMON_SET, puller


def pod(model: Model, part: Part, deployment: Body) -> Body:
    """A ready pod of a Deployment."""
    name = f"{model.name}-{part}"
    return {
        "metadata": {
            "name": name,
            "namespace": model.namespace,
            "uid": name,
            "labels": labels(model, part),
            "creationTimestamp": ago(3000),
        },
        "spec": deepcopy(deployment["spec"]["template"]["spec"]) | {"nodeName": "gpu-1"},
        "status": {"conditions": [condition("PodScheduled"), condition("Ready")]},
    }


def _scaling(settings: Settings, model: Model, up: int) -> Iterator[tuple[Kind, Body]]:
    body = cast(Body, scaled_object(settings, model))
    metrics = _metrics(settings, model)
    health = {metric: {"numberOfFailures": 0, "status": "Happy"} for metric in metrics}
    status = {
        "conditions": [condition("Ready"), condition("Fallback", "False"), condition("Paused", "False")],
        "externalMetricNames": metrics,
        "health": health,
    }
    yield SCALED_OBJECT, body | {"status": status}
    spec = body["spec"]
    active = condition("ScalingActive") if up else condition("ScalingActive", "False", "ScalingDisabled")
    yield (
        HPA,
        {
            "metadata": {
                "name": model.name,
                "namespace": model.namespace,
                "ownerReferences": [{"kind": "ScaledObject", "name": model.name}],
            },
            "spec": {
                "scaleTargetRef": dict(spec["scaleTargetRef"]),
                "minReplicas": max(1, spec["minReplicaCount"]),
                "maxReplicas": spec["maxReplicaCount"],
                "behavior": spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"],
                "metrics": [{"type": "External"} for _ in metrics],
            },
            "status": {
                "currentReplicas": up,
                "desiredReplicas": up,
                "conditions": [condition("AbleToScale"), active],
            },
        },
    )


LOCAL: Final = local()
WELL: Final = _seen(LOCAL)
"""Made once: the queries and rules of two models take a tenth of a second."""
