"""What a model must be ready for one lead time ahead, as plain recording rules. It can only raise.

Two things are published. Conditional headroom: the offered rate, multiplied when growth within one lead time has
lately outrun the slack that `utilization` leaves. The forecast: the trend of the last half hour and the same hour
yesterday and last week at today's level, each used only while its own backtest wins. The backtest asks what
counts: would acting on it one lead time early have cost less than not acting, with a request too many to serve
weighed twenty times a replica too many? At a lead of minutes and ample slack the answer is mostly no, and then
the rules stay silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specs import metrics_names as names
from specs.offered import (
    LONG_WINDOW,
    attempts,
    most_replicas,
    offered,
    recorded,
    recorded_over,
    target_rate,
)
from specs.promql import (
    DAY_SECONDS,
    Aggregate,
    Binary,
    Clamp,
    Expr,
    Largest,
    Metric,
    Number,
    PredictLinear,
    Vector,
)
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import horizon_seconds

RULE_SECONDS = 30
"""Evaluation interval of the recording rules."""
TREND_SECONDS = 1800
"""Past that the trend line is drawn through."""
LEVEL_SECONDS = 1800
"""Past over which today is compared with the season."""
MOST_LEVEL = 3.0
"""Largest ratio of today to the season that is believed."""
GATE_SECONDS = DAY_SECONDS
GATE_MARGIN = 0.95
"""A candidate's mean loss must be below this share of the loss without it."""
GATE_SAMPLES = 120
"""Backtests that a candidate must have passed before it is believed: an hour. In the first minutes after an
installation the trend of one burst wins against nothing, and raises the fleet once the burst is over."""
SHORT_WEIGHT = 20.0
"""A request a second that can't be served costs as much as twenty held ready in vain."""
GROWTH_SECONDS = 3 * 3600
GROWTH_QUANTILE = 0.95
"""Share of the past hours' moments whose growth the headroom covers."""
GROWTH_SAMPLES = 120
"""Moments that must have been seen before the headroom acts: an hour."""
GROWTH_MARGIN = 1.15
MOST_HEADROOM = 2.0


@dataclass(frozen=True)
class Rule:
    """One recording rule."""

    record: str
    expr: Expr


@dataclass(frozen=True)
class Candidate:
    """A predictor: the series it is recorded under, its loss's, and its query."""

    record: str
    loss: str
    expr: Expr


def rules(settings: Settings, model: Model) -> Sequence[Rule]:
    """The recording rules of one model, in evaluation order; none without a measured capacity."""
    if model.capacity is None:
        return ()
    now = recorded(names.OFFERED_NOW, model)
    found = [
        Rule(names.OFFERED, attempts(model, LONG_WINDOW)),
        Rule(names.OFFERED_NOW, offered(settings, model)),
        Rule(names.DEMAND, Binary("/", now, Number(target_rate(model)))),
        *_headroom(settings, model, now),
    ]
    if model.scaling.forecast.enabled:
        found.extend(_forecast(settings, model, now))
    return tuple(found)


def _most_rate(settings: Settings, model: Model) -> float:
    """Offered rate that fills every replica the model may have: no rule asks for more."""
    return most_replicas(settings, model) * target_rate(model)


def _headroom(settings: Settings, model: Model, now: Expr) -> Sequence[Rule]:
    """Growth within one lead time, and the offered rate with the headroom it warrants."""
    lead = int(horizon_seconds(settings, model))
    # x + 0 * y is x where y has an element and empty where it has none: a rate counts only once the series is
    # as old as its window, else the first minutes after an installation look like growth.
    whole = Binary("*", Number(0), recorded(names.OFFERED, model, lead + LONG_WINDOW))
    before = Binary("+", Binary(">", recorded(names.OFFERED, model, lead), Number(0)), whole)
    usual = recorded_over("quantile", names.GROWTH, model, GROWTH_SECONDS, quantile=GROWTH_QUANTILE)
    known = Binary(">=", recorded_over("count", names.GROWTH, model, GROWTH_SECONDS), Number(GROWTH_SAMPLES))
    beyond_slack = Binary(
        "+",
        Binary("*", Number(model.scaling.utilization * GROWTH_MARGIN), usual),
        Binary("*", Number(0), known),
    )
    factor = Clamp("clamp_max", Clamp("clamp_min", Binary("or", beyond_slack, Vector(1)), 1), MOST_HEADROOM)
    reserved = Clamp("clamp_max", Binary("*", now, factor), _most_rate(settings, model))
    return (Rule(names.GROWTH, Binary("/", now, before)), Rule(names.RESERVED, reserved))


def _season(model: Model, period: int, lead: int) -> Expr:
    """Demand one period before the time to come, at today's level."""
    level = Binary(
        "/",
        recorded_over("avg", names.OFFERED, model, LEVEL_SECONDS),
        recorded_over("avg", names.OFFERED, model, LEVEL_SECONDS, offset_seconds=period),
    )
    return Binary("*", recorded(names.OFFERED, model, period - lead), Clamp("clamp_max", level, MOST_LEVEL))


def candidates(settings: Settings, model: Model) -> Sequence[Candidate]:
    """The predictors of demand one lead time ahead; a season shorter than the lead is left out."""
    lead = int(horizon_seconds(settings, model))
    trend = PredictLinear(Metric(names.OFFERED, names.recorded_labels(model)), TREND_SECONDS, lead)
    found = [Candidate(names.TREND, names.LOSS_TREND, Aggregate("max", trend))]
    for period, record, loss in (
        (DAY_SECONDS, names.SEASON_DAY, names.LOSS_SEASON_DAY),
        (7 * DAY_SECONDS, names.SEASON_WEEK, names.LOSS_SEASON_WEEK),
    ):
        if lead < period:
            found.append(Candidate(record, loss, _season(model, period, lead)))
    return found


def acted_loss(model: Model, record: str, lead: int, now: Expr) -> Expr:
    """Cost of having acted on `record` one lead time ago: rate held ready in vain, and twenty times the rate
    that outran the slack.
    """
    acted = recorded(record, model, lead)
    vain = Clamp("clamp_min", Binary("-", acted, now), 0)
    short = Binary("-", Binary("*", Number(model.scaling.utilization), now), acted)
    return Binary("+", vain, Binary("*", Number(SHORT_WEIGHT), Clamp("clamp_min", short, 0)))


def _forecast(settings: Settings, model: Model, now: Expr) -> Sequence[Rule]:
    lead = int(horizon_seconds(settings, model))
    found = [Rule(names.LOSS_LAST, acted_loss(model, names.OFFERED_NOW, lead, now))]
    without = recorded_over("avg", names.LOSS_LAST, model, GATE_SECONDS)
    parts: list[Expr] = [now]
    for candidate in candidates(settings, model):
        found.append(Rule(candidate.record, Largest((candidate.expr, now))))
        found.append(Rule(candidate.loss, acted_loss(model, candidate.record, lead, now)))
        loss = recorded_over("avg", candidate.loss, model, GATE_SECONDS)
        wins = Binary("<", loss, Binary("*", Number(GATE_MARGIN), without))
        tried = recorded_over("count", candidate.loss, model, GATE_SECONDS)
        judged = Binary(">=", tried, Number(GATE_SAMPLES))
        # Empty while the candidate loses or is untried, as above.
        known = Binary("+", recorded(candidate.record, model), Binary("*", Number(0), judged))
        parts.append(Binary("+", known, Binary("*", Number(0), wins)))
    forecast = Clamp("clamp_max", Largest(tuple(parts)), _most_rate(settings, model))
    return (*found, Rule(names.FORECAST, forecast))
