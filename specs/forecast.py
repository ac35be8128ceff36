"""The forecast, one lead time ahead, as plain recording rules: it can only raise.

Candidates are the trend of the last half hour and the same hour yesterday and last week, at today's level.
Each is recorded, compared with what then came, and used only while its own error over the last day is smaller
than that of the last value (at a lead of minutes the last value often wins). Conditional headroom multiplies
the result when growth within one lead time has lately outrun the slack that `utilization` leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specs import metrics_names as names
from specs.offered import attempts, offered, recorded, recorded_over, target_rate
from specs.promql import (
    DAY_SECONDS,
    Aggregate,
    Binary,
    Call,
    Clamp,
    Expr,
    Largest,
    Metric,
    Number,
    PredictLinear,
)
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import horizon_seconds

RULE_SECONDS = 30
"""Evaluation interval of the recording rules."""
TREND_WINDOW = 1800
LEVEL_WINDOW = 1800
GATE_WINDOW = DAY_SECONDS
GATE_MARGIN = 0.95
"""A candidate's mean error must be below this share of the last value's."""
MOST_RAISE = 1.5
"""A candidate may raise the demand by this factor at most."""
GROWTH_WINDOW = 6 * 3600
GROWTH_QUANTILE = 0.95
"""Share of the last hours' lead times whose growth the headroom covers."""
MOST_HEADROOM = 2.0


@dataclass(frozen=True)
class Rule:
    """One recording rule."""

    record: str
    expr: Expr


@dataclass(frozen=True)
class Candidate:
    """A predictor: the series it is recorded under and its error's."""

    record: str
    error: str
    expr: Expr


def _season(model: Model, period: int, lead: int) -> Expr:
    """Demand one period ago at the time to come, scaled by today's level against that day's."""
    then = recorded(names.OFFERED, model, period - lead)
    level = Binary(
        "/",
        recorded_over("avg", names.OFFERED, model, LEVEL_WINDOW),
        recorded_over("avg", names.OFFERED, model, LEVEL_WINDOW, offset_seconds=period),
    )
    return Binary("*", then, level)


def candidates(settings: Settings, model: Model) -> Sequence[Candidate]:
    """The predictors of demand one lead time ahead."""
    lead = int(horizon_seconds(settings, model))
    labels = names.recorded_labels(model)
    trend = Aggregate("max", PredictLinear(Metric(names.OFFERED, labels), TREND_WINDOW, lead))
    return (
        Candidate(names.TREND, names.ERROR_TREND, Clamp("clamp_min", trend, 0)),
        Candidate(names.SEASON_DAY, names.ERROR_SEASON_DAY, _season(model, DAY_SECONDS, lead)),
        Candidate(names.SEASON_WEEK, names.ERROR_SEASON_WEEK, _season(model, 7 * DAY_SECONDS, lead)),
    )


def _error(model: Model, record: str, lead: int) -> Expr:
    """How far off the value recorded one lead time ago is now."""
    return Call("abs", Binary("-", recorded(record, model, lead), recorded(names.OFFERED, model)))


def _gated(model: Model, candidate: Candidate) -> Expr:
    """The candidate while its backtest beats the last value; empty otherwise."""
    own = recorded_over("avg", candidate.error, model, GATE_WINDOW)
    last = recorded_over("avg", names.ERROR_LAST, model, GATE_WINDOW)
    win = Binary("<", own, Binary("*", Number(GATE_MARGIN), last))
    # x + 0 * y is x where y has an element and empty where it has none.
    return Binary("+", recorded(candidate.record, model), Binary("*", Number(0), win))


def rules(settings: Settings, model: Model) -> Sequence[Rule]:
    """The recording rules of one model, in evaluation order; none without a measured capacity."""
    if model.capacity is None:
        return ()
    lead = int(horizon_seconds(settings, model))
    found = [Rule(names.OFFERED, attempts(model, 300))]
    now = recorded(names.OFFERED, model)
    demand = offered(settings, model)
    found.append(Rule(names.DEMAND, Binary("/", demand, Number(target_rate(model)))))
    if not model.scaling.forecast.enabled:
        return tuple(found)
    found.append(Rule(names.ERROR_LAST, _error(model, names.OFFERED, lead)))
    best: Expr = now
    for candidate in candidates(settings, model):
        found.append(Rule(candidate.record, candidate.expr))
        found.append(Rule(candidate.error, _error(model, candidate.record, lead)))
        limited = Binary("*", Number(1), _gated(model, candidate))
        best = Largest((limited, best))
    return tuple(found)
