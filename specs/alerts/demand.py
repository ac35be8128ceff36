"""Alerts of one model's demand: its triggers have data, nobody waits at zero for long, no engine idles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from specs import metrics_names as names
from specs.alerts.alert import Alert, either
from specs.offered import held
from specs.promql import Binary, Expr, Metric, Number, OverTime, Vector, render
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import tiers
from specs.triggers import QueryTrigger, triggers

ABSENT_SECONDS: Final = 300
"""As long as Prometheus itself still shows the last sample of a series that is gone."""
ALLOWANCE: Final = 1.25
"""Halfway from a usual cold start to the moment when the router gives up (specs.patience.HOLD_SAFETY)."""
ZERO_SECONDS: Final = 60
"""A model that keeps a replica has an engine for a held request at once."""
IDLE_SECONDS: Final = 3600


def alerts(settings: Settings, model: Model) -> Sequence[Alert]:
    """The model's alerts, in a stable order."""
    return (_held(settings, model), _absent(settings, model), _idle(model))


def start_seconds(settings: Settings, model: Model) -> int:
    """A cold start from the first request on: polling, detection, node, image, weights, engine."""
    return math.ceil(tiers(settings, model)[0].total + model.scaling.polling_seconds)


def _labels(model: Model) -> dict[str, str]:
    return dict(names.recorded_labels(model))


def _held(settings: Settings, model: Model) -> Alert:
    usual = ZERO_SECONDS
    if model.replicas.min == 0:
        usual = round(ALLOWANCE * start_seconds(settings, model))
    return Alert(
        "HeadroomRequestsHeld",
        render(Binary(">", held(settings, model), Number(0))),
        usual,
        "critical",
        "requests-held",
        f"{model.name}: callers wait in the router and no engine comes",
        f"About {{{{ $value | humanize }}}} requests have been held for {usual} s, longer than a start takes. The "
        "router gives them up soon.",
        _labels(model),
    )


def _never_absent(query: Expr | str) -> bool:
    """A query that ends in a zero default reads as 0 where its series are rightly gone."""
    return isinstance(query, Binary) and query.operator == "or" and isinstance(query.right, Vector)


def _absent(settings: Settings, model: Model) -> Alert:
    """Every trigger whose query has no default; labelled so that one expression tells which."""
    watched = [
        trigger
        for trigger in triggers(settings, model)
        if isinstance(trigger, QueryTrigger) and not _never_absent(trigger.query)
    ]
    parts = [
        f"label_replace(absent({trigger.query if isinstance(trigger.query, str) else render(trigger.query)}), "
        f'"trigger", "{trigger.name}", "", "")'
        for trigger in watched
    ]
    return Alert(
        "HeadroomTriggerSeriesAbsent",
        either(*parts),
        ABSENT_SECONDS + start_seconds(settings, model),
        "critical",
        "trigger-series-absent",
        f"{model.name}: trigger {{{{ $labels.trigger }}}} has no data",
        "Its query has given nothing for longer than a cold start, so KEDA can't scale on it: a target is not "
        "scraped, or a series has another name or label.",
        _labels(model),
    )


def _idle(model: Model) -> Alert:
    """Engines that had no request for an hour, beyond those that are to be kept."""
    floor = max([model.replicas.min, *(entry.replicas for entry in model.scaling.schedule)])
    labels = names.engine_labels(model)
    quiet = Binary("<=", OverTime("max", Metric(names.RUNNING, labels), IDLE_SECONDS), Number(0))
    there = render(Metric(names.RUNNING, labels))
    count = f"count(({render(quiet)}) and {there})"
    return Alert(
        "HeadroomReplicasIdle",
        f"{count} > {floor}",
        1800,
        "warning",
        "gpus-wasted",
        f"{model.name}: {{{{ $value }}}} engines hold GPUs without a request",
        f"They had no request for an hour, while only {floor} are to be kept ready: something holds the replicas up.",
        _labels(model),
    )
