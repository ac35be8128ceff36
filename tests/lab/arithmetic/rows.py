"""Autoscalers by what they are told, each as an object for the cluster and as the replay's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.replay.hpa import Autoscaler, Behavior, Limits
from planner.replay.keda import Scaler, scheduled
from specs.triggers import CronTrigger, MetricType, QueryTrigger
from tests.lab.always import HALVES
from tests.lab.arithmetic.answers import BROKEN, EMPTY

SYNCS = 30
AT_ONCE = Limits(pods=20, percent=0, period_seconds=600, window_seconds=0)
"""One step as large as it likes; what comes after it within ten minutes would be held back."""


@dataclass(frozen=True)
class Told:
    """A trigger's target and what Prometheus answers to its query."""

    value: str
    target: float = 2
    kind: MetricType = "AverageValue"
    activation: float = 0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One autoscaler that finds ``start`` replicas. ``cron``: replicas of a schedule that always holds."""

    name: str
    start: int
    told: Sequence[Told]
    least: int = 1
    most: int = 20
    up: Limits = AT_ONCE
    down: Limits = AT_ONCE
    fallback: int | None = None
    cron: int | None = None


ROWS = (
    # Tolerance: 10 % to both sides is still near enough, a thousandth more is not.
    Row(name="at-the-upper-edge", start=10, told=[Told("22")]),
    Row(name="above-the-upper-edge", start=10, told=[Told("22.002")]),
    Row(name="at-the-lower-edge", start=10, told=[Told("18")]),
    Row(name="below-the-lower-edge", start=10, told=[Told("17.998")]),
    Row(name="one-replica-near-its-target", start=1, told=[Told("2.2")]),
    Row(name="one-replica-above-its-target", start=1, told=[Told("2.3")]),
    # Whole replicas, from whole thousandths.
    Row(name="a-whole-multiple", start=2, told=[Told("14")]),
    Row(name="less-than-half-a-thousandth-above", start=2, told=[Told("14.0004")]),
    Row(name="more-than-half-a-thousandth-above", start=2, told=[Told("14.0006")]),
    Row(name="a-target-below-one", start=1, told=[Told("1.9", target=0.66)]),
    Row(name="a-target-with-four-decimals", start=1, told=[Told("9.245", target=1.3209)]),
    # Levels: of the ready replicas, and the target itself has the tolerance.
    Row(name="a-level-near-its-target", start=4, told=[Told("0.93", 0.85, "Value")]),
    Row(name="a-level-above-its-target", start=4, told=[Told("0.95", 0.85, "Value")], most=5),
    Row(name="a-level-far-below", start=6, told=[Told("0.2", 0.85, "Value")], least=2),
    # Several triggers: the largest wins, one that fails forbids less but not more.
    Row(name="the-largest-wins", start=2, told=[Told("6"), Told("11"), Told("3")]),
    Row(name="a-total-beside-a-level", start=3, told=[Told("4"), Told("1.7", 0.85, "Value")], most=6),
    Row(name="a-failure-forbids-less", start=6, told=[Told("2"), Told(BROKEN)]),
    Row(name="a-failure-allows-more", start=2, told=[Told("9"), Told(BROKEN)]),
    Row(name="nothing-is-a-failure", start=4, told=[Told("2"), Told(EMPTY)]),
    Row(name="nan-is-a-failure", start=4, told=[Told("2"), Told("NaN")]),
    Row(name="infinity-is-a-failure", start=4, told=[Told("2"), Told("+Inf")]),
    Row(name="zero-is-none", start=4, told=[Told("2"), Told("0")]),
    Row(name="below-zero", start=4, told=[Told("-3")]),
    # The fallback, from the fourth failure in a row.
    Row(name="a-fallback-that-raises", start=1, told=[Told(BROKEN)], fallback=3),
    Row(name="a-fallback-below-what-runs", start=5, told=[Told(BROKEN)], fallback=3),
    Row(name="a-fallback-beside-less", start=5, told=[Told("2"), Told(EMPTY)], fallback=3),
    # Schedules.
    Row(name="a-schedule-raises", start=1, told=[Told("0")], cron=4),
    Row(name="a-schedule-holds", start=6, told=[Told("0")], cron=4),
    Row(name="a-schedule-beside-more", start=1, told=[Told("11")], cron=4),
    # From and to zero: more than the activation wakes; who was never active sleeps at once, whatever the HPA holds.
    Row(name="asleep-at-its-activation", start=0, told=[Told("2", activation=2)], least=0),
    Row(name="awake-above-its-activation", start=0, told=[Told("2.1", activation=2)], least=0),
    Row(name="awake-and-more", start=0, told=[Told("9"), Told("0", 0.85, "Value")], least=0),
    Row(name="never-awake", start=3, told=[Told("0")], least=0, down=Limits(20, 0, 600, 300)),
    Row(name="a-failure-wakes-nobody", start=0, told=[Told(BROKEN)], least=0),
    # Limits and policies.
    Row(name="no-more-than-most", start=2, told=[Told("100")], most=7),
    Row(name="no-less-than-least", start=6, told=[Told("0")], least=2),
    Row(name="pods-or-percent", start=1, told=[Told("40")], up=Limits(4, 100, 600, 0)),
    Row(name="percent-or-pods", start=8, told=[Told("40")], up=Limits(4, 100, 600, 0)),
    Row(name="doubling", start=1, told=[Told("18")], up=Limits(0, 100, 4, 0)),
    Row(name="half-as-much-again", start=3, told=[Told("18")], up=Limits(0, 50, 4, 0)),
    Row(name="one-at-a-time", start=5, told=[Told("4")], down=Limits(1, 0, 4, 0)),
    Row(name="a-tenth-at-a-time", start=9, told=[Told("2")], down=Limits(0, 10, 600, 0)),
    Row(name="a-long-look-back", start=5, told=[Told("4")], down=Limits(20, 0, 600, 300)),
)


def wanted(row: Row, sync_seconds: float) -> list[int]:
    """Replicas by the replay, each time that they change."""
    hpa = Autoscaler(Behavior(row.least, row.most, row.up, row.down))
    triggers = [QueryTrigger("told", "", told.target, told.kind, told.activation) for told in row.told]
    scalers = [Scaler(trigger) for trigger in triggers]
    values = [None if told.value in (BROKEN, EMPTY) else float(told.value) for told in row.told]
    crons = [] if row.cron is None else [CronTrigger("held", "UTC", "", "", row.cron)]
    active = any(scaler.active(value) for scaler, value in zip(scalers, values, strict=True))
    found = [row.start]
    for number in range(SYNCS):
        now, moment = found[-1], number * sync_seconds
        if row.least == 0 and bool(now) != active:
            found.append(int(active))
        if not found[-1]:
            break
        now = found[-1]
        proposals = [
            scaler.proposal(value, now, now, row.fallback)
            for scaler, value in zip(scalers, values, strict=True)
        ]
        proposals += [scheduled(cron, True, now, now) for cron in crons]
        after = hpa.desired(moment, now, proposals)
        if after != now:
            found.append(after)
    return found


def scaled_object(row: Row, namespace: str, address: str) -> dict[str, Any]:
    """The ScaledObject of the row's Deployment."""
    queries = [
        {
            "type": "prometheus",
            "metricType": told.kind,
            "metadata": {
                "serverAddress": address,
                "query": query,
                "threshold": f"{told.target}",
                "activationThreshold": f"{told.activation}",
                "ignoreNullValues": "false",
            },
        }
        for query, told in queried(row)
    ]
    crons = [
        {
            "type": "cron",
            "metadata": {"timezone": "UTC", "start": start, "end": end, "desiredReplicas": f"{row.cron}"},
        }
        for start, end in HALVES
        if row.cron is not None
    ]
    fallback = {"failureThreshold": 3, "replicas": row.fallback, "behavior": "currentReplicasIfHigher"}
    behavior = {"scaleUp": _rules(row.up), "scaleDown": _rules(row.down)}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": row.name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"name": row.name},
            "minReplicaCount": row.least,
            "maxReplicaCount": row.most,
            "pollingInterval": 1,
            "advanced": {"horizontalPodAutoscalerConfig": {"name": row.name, "behavior": behavior}},
            "triggers": [*queries, *crons],
        }
        | ({} if row.fallback is None else {"fallback": fallback}),
    }


def queried(row: Row) -> list[tuple[str, Told]]:
    """The row's queries with what they are told."""
    return [(f"{row.name}/{number}", told) for number, told in enumerate(row.told)]


def _rules(limits: Limits) -> dict[str, Any]:
    kinds = (("Pods", limits.pods), ("Percent", limits.percent))
    period = int(limits.period_seconds)
    policies = [{"type": kind, "value": value, "periodSeconds": period} for kind, value in kinds if value]
    return {"stabilizationWindowSeconds": int(limits.window_seconds), "policies": policies}
