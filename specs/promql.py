"""A small typed tree of PromQL: rendered for Prometheus, evaluated as it stands by the replay.

One tree serves both, so what is replayed is what is deployed. Only the shapes the rules need exist; every
complete expression reduces to one element without labels, since KEDA accepts exactly one series
(KEDA 2.21 pkg/scalers/prometheus_scaler.go).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

RateFunction = Literal["rate", "increase"]
RangeFunction = Literal["avg", "max", "min", "sum", "stddev", "quantile", "count"]
AggregateFunction = Literal["sum", "max", "avg", "count"]
ScalarFunction = Literal["sqrt", "ceil", "abs", "floor"]
ClampFunction = Literal["clamp_min", "clamp_max"]
Operator = Literal["+", "-", "*", "/", ">", "<", ">=", "<=", "or"]

DAY_SECONDS = 86_400
_DURATION: Final = re.compile(r"(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_UNIT_SECONDS: Final = (365 * DAY_SECONDS, 7 * DAY_SECONDS, DAY_SECONDS, 3600, 60, 1)


@dataclass(frozen=True, slots=True)
class Metric:
    """A series selector: `name{labels}`, optionally as it was `offset_seconds` ago."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()
    offset_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """`rate` or `increase` of a counter over the last `window_seconds`."""

    function: RateFunction
    metric: Metric
    window_seconds: int


@dataclass(frozen=True, slots=True)
class OverTime:
    """`<function>_over_time` of a series over `window_seconds`; `quantile` only with function quantile."""

    function: RangeFunction
    metric: Metric
    window_seconds: int
    quantile: float = 0.5


@dataclass(frozen=True, slots=True)
class PredictLinear:
    """Least-squares line through `window_seconds` of a series, read `ahead_seconds` after now."""

    metric: Metric
    window_seconds: int
    ahead_seconds: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregation over every label: one element out."""

    function: AggregateFunction
    expr: Expr


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; an operand only, since a bare number is a scalar and KEDA decodes vectors alone."""

    value: float


@dataclass(frozen=True, slots=True)
class Vector:
    """`vector(value)`: one element without labels."""

    value: float


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one value."""

    function: ScalarFunction
    expr: Expr


@dataclass(frozen=True, slots=True)
class Clamp:
    """`clamp_min` or `clamp_max` against a literal."""

    function: ClampFunction
    expr: Expr
    limit: float


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two expressions; comparisons filter, `or` fills what is empty on the left."""

    operator: Operator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of several one-element expressions; empty and NaN ones are passed over."""

    exprs: tuple[Expr, ...]


Expr = (
    Largest | Metric | Rate | OverTime | PredictLinear | Aggregate | Number | Vector | Call | Clamp | Binary
)


def or_zero(expr: Expr) -> Expr:
    """`expr`, or 0 where it has no element."""
    return Binary("or", expr, Vector(0))


def duration(seconds: int) -> str:
    """`seconds` in Prometheus' largest whole unit: 90 -> 90s, 600 -> 10m, 604800 -> 1w."""
    for unit, size in (("w", 7 * DAY_SECONDS), ("d", DAY_SECONDS), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def duration_seconds(text: object) -> int | None:
    """Seconds of a Prometheus duration such as 1m30s; None for what is none, or is finer than a second."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    counts = (int(count or 0) for count in match.groups())
    return sum(count * size for count, size in zip(counts, _UNIT_SECONDS, strict=True))


def number(value: float) -> str:
    """`value` as the shortest PromQL literal that reads back as the same number."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def _selector(metric: Metric, window_seconds: int = 0) -> str:
    pairs = ",".join(f'{key}="{_escaped(value)}"' for key, value in metric.labels)
    text = metric.name + (f"{{{pairs}}}" if pairs else "")
    if window_seconds:
        text += f"[{duration(window_seconds)}]"
    if metric.offset_seconds:
        text += f" offset {duration(metric.offset_seconds)}"
    return text


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def render(expr: Expr) -> str:
    """The expression as PromQL text."""
    match expr:
        case Metric():
            return _selector(expr)
        case Rate():
            return f"{expr.function}({_selector(expr.metric, expr.window_seconds)})"
        case OverTime(function="quantile"):
            return (
                f"quantile_over_time({number(expr.quantile)}, {_selector(expr.metric, expr.window_seconds)})"
            )
        case OverTime():
            return f"{expr.function}_over_time({_selector(expr.metric, expr.window_seconds)})"
        case PredictLinear():
            return f"predict_linear({_selector(expr.metric, expr.window_seconds)}, {expr.ahead_seconds})"
        case Aggregate() | Call():
            return f"{expr.function}({render(expr.expr)})"
        case Largest():
            # `or` keeps only one element per label set, so each candidate gets a label of its own.
            marked = (
                f'label_replace({render(part)}, "candidate", "{position}", "", "")'
                for position, part in enumerate(expr.exprs)
            )
            return f"max({' or '.join(marked)})"
        case Clamp():
            return f"{expr.function}({render(expr.expr)}, {number(expr.limit)})"
        case Number():
            return number(expr.value)
        case Vector():
            return f"vector({number(expr.value)})"
        case Binary():
            return f"{_operand(expr.left)} {expr.operator} {_operand(expr.right)}"


def _operand(expr: Expr) -> str:
    return f"({render(expr)})" if isinstance(expr, Binary) else render(expr)
