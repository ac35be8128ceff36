"""What the program's other objects rest on in the values of the charts: a stack's own values may not undo it.

Value paths: karpenter 1.14, keda 2.20, kube-prometheus-stack 88.5, aws-load-balancer-controller 3, dcgm-exporter 4.8,
nvidia-device-plugin 0.20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from specs import authentication, charts
from specs.monitors import KEDA_METRICS_PORT
from specs.names import (
    KARPENTER_SERVICE_ACCOUNT,
    KEDA_OPERATOR,
    KEDA_SERVICE_ACCOUNT,
    LOAD_BALANCER_SERVICE_ACCOUNT,
)
from specs.platform_values import SELECTED
from specs.promql import DAY_SECONDS, duration_seconds
from specs.settings.stack import Settings
from specs.taints import tolerates

Path = tuple[str, ...]
LEAST_RETENTION_DAYS: Final = 8
"""A week to compare with, and the lead time before it."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """`part` is the chart's key under `platform`, `path` the value's; `accepts` judges a value that a stack states
    there, None being YAML's null; `allowed` says the same in words, `why` what rests on it."""

    part: str
    path: Path
    accepts: Callable[[object], bool]
    allowed: str
    why: str


def guarantees(settings: Settings) -> Iterator[Guarantee]:
    """All that hold for these settings."""
    yield from _karpenter(settings)
    yield from _keda(settings)
    yield from _prometheus()
    yield from _load_balancer(settings)
    tolerated = charts.gpu_tolerations(settings)
    for part in ("gpu_plugin", "gpu_metrics"):
        yield Guarantee(
            part=part,
            path=("tolerations",),
            accepts=lambda value: _tolerates(value, tolerated),
            allowed="a list that tolerates every taint of the GPU pools",
            why="it has to run on their nodes",
        )
    yield _own("gpu_plugin", "affinity.nodeAffinity", "two plugins on a Bottlerocket node would fight")
    yield _fixed("gpu_metrics", "serviceMonitor.enabled", True, "dashboards and alerts read the GPUs' series")


def _fixed(part: str, path: str, value: object, why: str, *, or_null: bool = False) -> Guarantee:
    return Guarantee(
        part=part,
        path=tuple(path.split(".")),
        accepts=lambda stated: (
            (stated == value and type(stated) is type(value)) or (or_null and stated is None)
        ),
        allowed=str(value).lower() if isinstance(value, bool) else f'"{value}"',
        why=why,
    )


def _own(part: str, path: str, why: str) -> Guarantee:
    return Guarantee(
        part=part,
        path=tuple(path.split(".")),
        accepts=lambda _: False,
        allowed="the program's own value",
        why=why,
    )


def _empty(part: str, path: str, why: str) -> Guarantee:
    return Guarantee(
        part=part,
        path=tuple(path.split(".")),
        accepts=lambda stated: not stated,
        allowed="nothing: all of them count",
        why=why,
    )


def _karpenter(settings: Settings) -> Iterator[Guarantee]:
    if settings.cluster.mode == "eks":  # an existing cluster has a name, a queue and roles of its owner's
        yield _own("karpenter", "settings.clusterName", "nodes join this stack's cluster")
        why = "notices of spot interruptions come to this stack's queue"
        yield _own("karpenter", "settings.interruptionQueue", why)
        account, why = KARPENTER_SERVICE_ACCOUNT, "its rights in AWS are given to this account"
        yield _fixed("karpenter", "serviceAccount.name", account, why)
    yield _fixed(
        "karpenter", "settings.featureGates.reservedCapacity", True, "pools may buy reserved capacity"
    )
    if any(model.scaling.warm_spares for model in settings.active_models):
        yield _fixed("karpenter", "settings.featureGates.capacityBuffer", True, "warm spares are buffers")
    yield _fixed("karpenter", "serviceMonitor.enabled", True, "dashboards and alerts read its series")
    yield Guarantee(
        part="karpenter",
        path=("controller", "env"),
        accepts=lambda value: {"name": "AWS_REGION", "value": settings.region} in _list(value),
        allowed=f"a list with {{name: AWS_REGION, value: {settings.region}}}: Helm replaces a list as a whole",
        why="a pod can't ask the metadata service for its region",
    )


def _keda(settings: Settings) -> Iterator[Guarantee]:
    needed = {model.namespace for model in settings.active_models}
    yield Guarantee(
        part="keda",
        path=("watchNamespace",),
        accepts=lambda value: not value or (isinstance(value, str) and needed <= set(value.split(","))),
        allowed=f"nothing, or a list with {','.join(sorted(needed)) or 'the namespaces of the models'}",
        why="no other namespace is scaled",
    )
    yield _fixed("keda", "crds.install", True, "the models' ScaledObjects are of these kinds")
    yield _fixed("keda", "operator.name", KEDA_OPERATOR, "its monitor selects the pods by it", or_null=True)
    yield _fixed("keda", "prometheus.operator.enabled", True, "alerts read the operator's series")
    why = "its monitor scrapes this port"
    yield _fixed("keda", "prometheus.operator.port", KEDA_METRICS_PORT, why, or_null=True)
    if authentication.signs(settings):
        for path in ("serviceAccount.name", "serviceAccount.operator.name"):
            why = "the right to query Prometheus is given to this account"
            yield _fixed("keda", path, KEDA_SERVICE_ACCOUNT, why, or_null=True)


def _prometheus() -> Iterator[Guarantee]:
    spec = "prometheus.prometheusSpec"
    why = "KEDA, rules and dashboards read this Prometheus"
    for path in ("prometheus.enabled", "prometheusOperator.enabled"):
        yield _fixed("prometheus", path, True, why, or_null=True)
    yield _fixed("prometheus", "crds.enabled", True, "the models' monitors and rules are of these kinds")
    yield _fixed("prometheus", "prometheus.agentMode", False, "an agent answers no query", or_null=True)
    yield _empty("prometheus", "namespaceOverride", "KEDA asks it in the namespace monitoring")
    root = f"{spec}.routePrefix"
    yield _fixed("prometheus", root, "/", "KEDA asks it at the root of its address", or_null=True)
    for kind in SELECTED:
        why = "the models' monitors and rules bear other labels than the chart's"
        yield _fixed("prometheus", f"{spec}.{kind}SelectorNilUsesHelmValues", False, why)
        for selector in (f"{kind}Selector", f"{kind}NamespaceSelector"):
            yield _empty("prometheus", f"{spec}.{selector}", "they stand in the models' namespaces")
    for limited in ("namespaces", "prometheusInstanceNamespaces"):
        yield _empty("prometheus", f"prometheusOperator.{limited}", "models stand in namespaces of their own")
    yield Guarantee(
        part="prometheus",
        path=("prometheus", "prometheusSpec", "retention"),
        accepts=lambda value: _days(value) >= LEAST_RETENTION_DAYS,
        allowed=f"at least {LEAST_RETENTION_DAYS}d",
        why="the forecast compares with the week before",
    )


def _load_balancer(settings: Settings) -> Iterator[Guarantee]:
    if settings.cluster.mode != "eks":
        return  # it is installed on a cluster of the program's own alone
    part = "load_balancer_controller"
    yield _own(part, "clusterName", "it tags and finds balancers by the stack's cluster")
    yield _own(part, "vpcId", "balancers stand in the stack's network")
    yield _fixed(part, "region", settings.region, "a pod can't ask the metadata service for it")
    account = LOAD_BALANCER_SERVICE_ACCOUNT
    yield _fixed(part, "serviceAccount.name", account, "its rights in AWS are given to this account")
    for switch in ("enableShield", "enableWaf", "enableWafv2"):
        yield _fixed(part, switch, False, "its rights in AWS leave that out")


def _list(value: object) -> Sequence[object]:
    return cast(Sequence[object], value) if isinstance(value, list | tuple) else ()


def _tolerates(value: object, needed: Sequence[Mapping[str, str]]) -> bool:
    stated = [cast(Mapping[str, object], entry) for entry in _list(value) if isinstance(entry, Mapping)]
    return all(any(tolerates(entry, taint) for entry in stated) for taint in needed)


def _days(value: object) -> float:
    """Days of a Prometheus duration; 0 for what is none."""
    return (duration_seconds(value) or 0) / DAY_SECONDS
