"""The triggers of a model's autoscaler as data: rendered into the ScaledObject, evaluated by the replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specs import metrics_names as names
from specs.offered import (
    held,
    in_flight,
    kv_usage,
    offered,
    recorded,
    target_concurrency,
    target_rate,
    waiting,
)
from specs.promql import Binary, Expr, or_zero
from specs.settings.model import Model
from specs.settings.stack import Settings

FORECAST_ACTIVATION = 0.05
"""Share of one replica's target that a forecast must exceed to wake a model from zero."""

MetricType = Literal["AverageValue", "Value"]


@dataclass(frozen=True)
class QueryTrigger:
    """A Prometheus trigger. AverageValue: desired = ceil(query / threshold), so the query is a total.
    Value: desired = ceil(ready x query / threshold), so the query is a level.
    """

    name: str
    query: Expr | str
    threshold: float
    metric_type: MetricType = "AverageValue"
    activation: float = 0.0
    """Between 0 and 1 replicas only: the trigger is active above this value."""


@dataclass(frozen=True)
class CronTrigger:
    """A floor of replicas inside a time window."""

    name: str
    timezone: str
    start: str
    end: str
    replicas: int


Trigger = QueryTrigger | CronTrigger


def triggers(settings: Settings, model: Model) -> Sequence[Trigger]:
    """Every trigger of the model in a stable order. The HPA takes the largest proposal, so each one after
    the first can only raise.
    """
    scaling = model.scaling
    found: list[Trigger] = []
    if scaling.strategy == "rate" and model.capacity is not None:
        found.append(QueryTrigger("offered", offered(settings, model), target_rate(model)))
        # A recorded series that is absent is no fault: the direct query stands, so it reads as 0 and never
        # holds back a scale-down.
        reserved = or_zero(recorded(names.RESERVED, model))
        activation = FORECAST_ACTIVATION * target_rate(model)
        found.append(QueryTrigger("headroom", reserved, target_rate(model), activation=activation))
        if scaling.forecast.enabled:
            ahead = or_zero(recorded(names.FORECAST, model))
            found.append(QueryTrigger("forecast", ahead, target_rate(model), activation=activation))
    if scaling.strategy == "concurrency":
        found.append(QueryTrigger("in-flight", in_flight(model), target_concurrency(model)))
    found.append(QueryTrigger("queue", waiting(model), scaling.queue_threshold))
    found.append(QueryTrigger("kv-cache", kv_usage(model), scaling.kv_cache_threshold, "Value"))
    if model.replicas.min == 0:
        busy = Binary("+", held(settings, model), in_flight(model))
        found.append(QueryTrigger("wake", busy, target_concurrency(model)))
    found.extend(
        CronTrigger(f"schedule-{position}", entry.timezone, entry.start, entry.end, entry.replicas)
        for position, entry in enumerate(scaling.schedule)
    )
    found.extend(
        QueryTrigger(extra.name, extra.query, extra.threshold, extra.metric_type)
        for extra in scaling.triggers
    )
    return found
