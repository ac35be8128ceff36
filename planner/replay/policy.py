"""What decides the replicas in a replay: triggers, rules, behaviour and the node autoscaler's habits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.replay.hpa import DEFAULT_DOWN, DEFAULT_UP, Behavior, Limits
from specs import metrics_names as names
from specs.demand import rules
from specs.forecast import Rule
from specs.offered import most_replicas, offered, target_rate
from specs.promql import Aggregate, Binary, Metric, Number
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.triggers import CronTrigger, QueryTrigger, Trigger, triggers

GPU_UTILISATION = "DCGM_FI_DEV_GPU_UTIL"
QUANTILE_FORECAST = "headroom:baseline:hour_quantile"
"""Series that the replay itself publishes for the ungated quantile forecast."""

POLICIES = (
    "ours",
    "published",
    "hpa-gpu",
    "static",
    "clairvoyant",
    "running-plus-10-waiting",
    "gateway-queue",
    "quantile-forecast",
)


@dataclass(frozen=True)
class Policy:
    """One way to scale. `fixed` replicas, or triggers under a behaviour."""

    name: str
    behavior: Behavior
    triggers: Sequence[Trigger] = ()
    rules: Sequence[Rule] = ()
    fixed: int | None = None
    quantile_forecast: bool = False
    cluster_autoscaler: bool = False
    """Nodes come and go by Cluster Autoscaler (scan 10 s, unneeded 10 min) instead of Karpenter."""
    spares: int = 0
    polling_seconds: float = 5.0
    cooldown_seconds: float = 300.0


def _behavior(settings: Settings, model: Model, least: int, up: Limits, down: Limits) -> Behavior:
    most = most_replicas(settings, model)
    return Behavior(min(least, most), most, up, down)


def ours(settings: Settings, model: Model) -> Policy:
    """The deployed configuration itself: the very triggers and rules that specs render."""
    up, down = model.scaling.scale_up, model.scaling.scale_down
    behavior = _behavior(
        settings,
        model,
        model.replicas.min,
        Limits(up.pods, up.percent, up.period_seconds, 0),
        Limits(down.pods, 0, down.period_seconds, down.stabilization_seconds),
    )
    return Policy(
        "ours",
        behavior,
        tuple(triggers(settings, model)),
        tuple(rules(settings, model)),
        spares=model.scaling.warm_spares,
        polling_seconds=model.scaling.polling_seconds,
        cooldown_seconds=model.scaling.cooldown_seconds,
    )


def policy(settings: Settings, model: Model, name: str, peak: int) -> Policy:
    """A policy by its name; `peak` is the most replicas the trace ever needs. Raises KeyError for a name that is
    not in POLICIES or is `clairvoyant`, which is a bound and not a loop.
    """
    least = max(1, model.replicas.min)
    labels = names.engine_labels(model)
    queue = Aggregate("sum", Metric(names.WAITING, labels))
    running = Aggregate("sum", Metric(names.RUNNING, labels))
    if name == "ours":
        return ours(settings, model)
    if name == "static":
        behavior = _behavior(settings, model, least, DEFAULT_UP, DEFAULT_DOWN)
        return Policy(name, behavior, fixed=min(peak, behavior.most))
    if name == "published":
        # +100 % / 15 s, -10 % / 60 s; KEDA's default metric type for both triggers.
        usage = Aggregate("sum", Metric(names.KV_USAGE, labels))
        return Policy(
            name,
            _behavior(settings, model, least, Limits(0, 100, 15, 0), Limits(0, 10, 60, 300)),
            (QueryTrigger("queue", queue, 2), QueryTrigger("kv-cache", usage, 0.85)),
        )
    if name == "hpa-gpu":
        usage = Aggregate("avg", Metric(GPU_UTILISATION, labels))
        behavior = _behavior(settings, model, least, DEFAULT_UP, DEFAULT_DOWN)
        return Policy(name, behavior, (QueryTrigger("gpu", usage, 80, "Value"),), cluster_autoscaler=True)
    if name == "running-plus-10-waiting":
        weighted = Binary("+", running, Binary("*", Number(10), queue))
        return Policy(
            name,
            _behavior(settings, model, least, Limits(9, 0, 15, 0), DEFAULT_DOWN),
            (QueryTrigger("weighted", weighted, 25),),
            polling_seconds=2.0,
        )
    if name == "gateway-queue":
        behavior = _behavior(settings, model, max(2, least), DEFAULT_UP, DEFAULT_DOWN)
        return Policy(name, behavior, (QueryTrigger("queue", queue, 1),))
    if name == "quantile-forecast":
        behavior = _behavior(settings, model, least, DEFAULT_UP, DEFAULT_DOWN)
        target = target_rate(model)
        forecast = Aggregate("max", Metric(QUANTILE_FORECAST))
        return Policy(
            name,
            behavior,
            (
                QueryTrigger("offered", offered(settings, model), target),
                QueryTrigger("forecast", forecast, target),
            ),
            quantile_forecast=True,
        )
    raise KeyError(name)


__all__ = ["POLICIES", "CronTrigger", "Policy", "QueryTrigger", "ours", "policy"]
