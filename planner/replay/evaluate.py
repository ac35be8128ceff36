"""The rules' own expression trees, compiled to closures and evaluated at a moment of the replay.

A value is a float, or None for an empty result. Labels do not matter here: every complete expression reduces to
one element, and aggregations of scraped series are asked from the source as totals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from planner.replay.series import Counter, Extreme, Line, Mean, Quantile, Recorded, Sample, Window
from specs.promql import (
    Aggregate,
    Binary,
    Call,
    Clamp,
    Expr,
    Largest,
    Metric,
    Number,
    OverTime,
    PredictLinear,
    Rate,
    Vector,
)

Evaluate = Callable[[float], Sample]


class Source(Protocol):
    """Where metrics come from."""

    def counter(self, metric: Metric) -> Counter | None:
        """The scraped counter, summed over its series; None when nothing exports it."""
        ...

    def gauge(self, metric: Metric, aggregation: str) -> Callable[[], Sample] | None:
        """A reader of the gauge as last scraped, aggregated over its series; None when nothing exports it."""
        ...

    def recorded(self, name: str) -> Recorded | None:
        """The series a rule records; None when no rule does."""
        ...


def compiled(expr: Expr, source: Source) -> Evaluate:
    """A function of the moment in seconds. Windows inside keep state: ask at non-decreasing moments."""
    match expr:
        case Number() | Vector():
            value = float(expr.value)
            return lambda _: value
        case Aggregate():
            return _aggregate(expr, source)
        case Metric():
            return _instant(expr, "sum", source)
        case Rate():
            return _rate(expr, source)
        case OverTime() | PredictLinear():
            return _over_time(expr, source)
        case Call():
            return _call(expr, source)
        case Clamp():
            return _clamp(expr, source)
        case Largest():
            return _largest(expr, source)
        case Binary():
            return _binary(expr, source)


def _empty(moment: float) -> Sample:
    del moment
    return None


def _aggregate(expr: Aggregate, source: Source) -> Evaluate:
    inner = expr.expr
    if isinstance(inner, Metric):
        return _instant(inner, expr.function, source)
    if isinstance(inner, Binary) and inner.operator == "or":
        # `avg(a or b)`: one engine exports either name, never both.
        left, right = (compiled(Aggregate(expr.function, side), source) for side in (inner.left, inner.right))
        return lambda moment: right(moment) if (found := left(moment)) is None else found
    return compiled(inner, source)


def _instant(metric: Metric, aggregation: str, source: Source) -> Evaluate:
    series = source.recorded(metric.name)
    if series is not None:
        offset = metric.offset_seconds
        at = series.at
        return at if not offset else lambda moment: at(moment - offset)
    gauge = source.gauge(metric, aggregation)
    return _empty if gauge is None else lambda _: gauge()


def _rate(expr: Rate, source: Source) -> Evaluate:
    counter = source.counter(expr.metric)
    if counter is None:
        return _empty
    rate, window, offset = counter.rate, float(expr.window_seconds), expr.metric.offset_seconds
    scale = window if expr.function == "increase" else 1.0

    def evaluate(moment: float) -> Sample:
        found = rate(moment - offset, window)
        return None if found is None else found * scale

    return evaluate


def _over_time(expr: OverTime | PredictLinear, source: Source) -> Evaluate:
    series = source.recorded(expr.metric.name)
    if series is None:
        return _empty
    seconds, offset = float(expr.window_seconds), float(expr.metric.offset_seconds)
    window: Window
    if isinstance(expr, PredictLinear):
        window = Line(series, seconds, offset, float(expr.ahead_seconds))
    elif expr.function == "quantile":
        window = Quantile(series, seconds, offset, expr.quantile)
    elif expr.function in ("max", "min"):
        window = Extreme(series, seconds, offset, 1.0 if expr.function == "max" else -1.0)
    else:
        window = Mean(series, seconds, offset, expr.function)
    return window.value


def _call(expr: Call, source: Source) -> Evaluate:
    inner = compiled(expr.expr, source)
    function = {"sqrt": _sqrt, "ceil": math.ceil, "floor": math.floor, "abs": abs}[expr.function]

    def evaluate(moment: float) -> Sample:
        value = inner(moment)
        return None if value is None else function(value)

    return evaluate


def _sqrt(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _clamp(expr: Clamp, source: Source) -> Evaluate:
    inner, limit = compiled(expr.expr, source), expr.limit
    pick = max if expr.function == "clamp_min" else min

    def evaluate(moment: float) -> Sample:
        value = inner(moment)
        return None if value is None else pick(value, limit)

    return evaluate


def _largest(expr: Largest, source: Source) -> Evaluate:
    parts = [compiled(part, source) for part in expr.exprs]

    def evaluate(moment: float) -> Sample:
        best: Sample = None
        for part in parts:
            value = part(moment)
            if value is not None and (best is None or value > best or best != best):
                best = value
        return best

    return evaluate


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if not left or left != left else math.copysign(math.inf, left)


def _binary(expr: Binary, source: Source) -> Evaluate:
    left, right = compiled(expr.left, source), compiled(expr.right, source)
    operator = expr.operator
    if operator == "or":
        return lambda moment: right(moment) if (found := left(moment)) is None else found
    if operator in (">", "<", ">=", "<="):
        passes = _COMPARE[operator]

        def compare(moment: float) -> Sample:
            first, second = left(moment), right(moment)
            if first is None or second is None:
                return None
            return first if passes(first, second) else None

        return compare
    combine = _ARITHMETIC[operator]

    def arithmetic(moment: float) -> Sample:
        first = left(moment)
        if first is None:
            return None
        second = right(moment)
        return None if second is None else combine(first, second)

    return arithmetic


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
}
