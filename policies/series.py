"""How many series a PromQL expression yields, whether it can be empty or NaN, and what it reads.

One rule per construct: an aggregation without labels yields one element, division by something that may be
zero yields NaN, `or` is filled by its right side.
"""

from dataclasses import replace

from policies.meaning import (
    additive,
    counts_pods,
    keeps_additive,
    keeps_total,
    mean_between,
    mean_of,
    total_of,
)
from policies.shape import NUMBER, PromQLError, Shape, of_engine

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_RANKS = frozenset(("topk", "bottomk", "limitk"))
_CLOCKS = frozenset(
    ("day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year")
)
Matching = tuple[str, frozenset[str]] | None
"""How two vectors are matched: on, ignoring, group_left, group_right or bool, with the labels named."""


def read(name: str, matched: frozenset[str]) -> Shape:
    return Shape(
        metrics=frozenset({(name, matched)}),
        alive=not of_engine(name),
        counted=counts_pods(name),
        additive=additive(name),
    )


def aggregate(name: str, inner: Shape, grouping: tuple[str, frozenset[str]] | None, first: str) -> Shape:
    how, named = grouping or ("by", frozenset[str]())
    result = replace(
        inner,
        kind="vector",
        mean=mean_of(name, inner),
        positive=False,
        counted=name == "count" or inner.counted,
        additive=name == "sum" and inner.additive,
        total=total_of(name, inner),
        grouped=True,
    )
    if name in _RANKS:
        return replace(result, single=inner.one or (first == "1" and not named))
    if name == "count_values":
        return replace(result, labels=None, single=False)
    if how == "by":
        kept = named if inner.labels is None else named & inner.labels
        return replace(result, labels=kept, single=inner.one or not kept)
    kept = None if inner.labels is None else inner.labels - named
    return replace(result, labels=kept, single=inner.one)


def function(name: str, arguments: list[Shape]) -> Shape:
    if name in ("time", "pi", "scalar"):
        metrics = frozenset[tuple[str, frozenset[str]]]().union(*(item.metrics for item in arguments))
        counted = any(item.counted for item in arguments)
        return replace(NUMBER, metrics=metrics, nan=name == "scalar", counted=counted)
    if name == "vector":
        return Shape(
            labels=frozenset(), single=True, filled=True, positive=any(item.positive for item in arguments)
        )
    if name in _CLOCKS and not arguments:
        return Shape(labels=frozenset(), single=True, filled=True)
    judged = next((item for item in arguments if item.kind in ("vector", "matrix")), None)
    if judged is None:
        raise PromQLError(f"{name} needs a vector")
    result = replace(
        judged,
        kind="vector",
        positive=False,
        additive=judged.additive and keeps_additive(name),
        total=judged.total and keeps_total(name),
    )
    if name in ("absent", "absent_over_time"):
        return replace(result, labels=None, single=True, filled=False, alive=True, nan=False)
    if name == "histogram_quantile":
        kept = None if judged.labels is None else judged.labels - {"le"}
        return replace(result, labels=kept, single=judged.single or kept == frozenset(), nan=True, mean=True)
    if name in ("label_replace", "label_join"):
        return replace(result, labels=None, single=judged.one)
    if name == "clamp_min":
        return replace(result, positive=any(item.kind == "scalar" and item.positive for item in arguments))
    if name in ("sqrt", "ln", "log2", "log10", "deriv", "double_exponential_smoothing"):
        return replace(result, nan=True)
    return result


def binary(left: Shape, operator: str, matching: Matching, right: Shape) -> Shape:
    metrics = left.metrics | right.metrics
    how, named = matching or ("", frozenset[str]())
    if operator in ("or", "and", "unless"):
        if "scalar" in (left.kind, right.kind):
            raise PromQLError(f'"{operator}" needs vectors on both sides')
        if operator != "or":
            return replace(left, metrics=metrics, filled=False)
        same = (left.labels, right.labels) == (frozenset(), frozenset()) or (how == "on" and not named)
        return Shape(
            labels=left.labels if left.labels == right.labels else None,
            single=same and left.one and right.one,
            filled=right.filled or left.filled,
            nan=left.nan or right.nan,
            alive=left.alive or right.alive,
            mean=left.mean or right.mean,
            counted=left.counted or right.counted,
            additive=left.additive and right.additive,
            total=left.total,
            grouped=left.grouped or right.grouped,
            metrics=metrics,
        )
    comparing = operator in COMPARISONS
    keeps = not comparing or how.endswith("bool")
    if left.kind == "scalar" and right.kind == "scalar":
        return replace(NUMBER, metrics=metrics, nan=left.nan or right.nan or not right.positive)
    divides = operator in ("/", "%") and not right.positive
    nan = (left.nan or right.nan or divides) if keeps else False
    above = (
        operator in (">", ">=")
        and not keeps
        and right.kind == "scalar"
        and (operator == ">" or right.positive)
    )
    if "scalar" in (left.kind, right.kind):
        vector = right if left.kind == "scalar" else left
        filled = vector.filled and keeps
        scaled = operator in ("+", "-", "*") or (operator == "/" and vector is left)
        return replace(
            vector,
            metrics=metrics,
            nan=nan,
            filled=filled,
            positive=above,
            mean=mean_between(left, operator, right),
            counted=vector.counted and scaled,
            additive=False,
            total=vector.total and scaled and not right.counted,
        )
    labels, single = _matched(left, right, how, named)
    return Shape(
        labels=labels,
        single=single,
        filled=left.filled and right.filled and keeps and labels == frozenset(),
        nan=nan,
        alive=(left.alive and (right.alive or right.filled)) or (right.alive and left.filled),
        mean=mean_between(left, operator, right),
        total=operator in ("+", "-") and left.total and right.total,
        additive=operator == "+" and left.additive and right.additive,
        grouped=left.grouped or right.grouped,
        metrics=metrics,
    )


def _matched(
    left: Shape, right: Shape, how: str, named: frozenset[str]
) -> tuple[frozenset[str] | None, bool]:
    """Labels and width of one-to-one and grouped matching; the many side decides when grouped."""
    if how == "group_left":
        return left.labels, left.one
    if how == "group_right":
        return right.labels, right.one
    if how.startswith("on"):
        return named, not named or left.one or right.one
    return left.labels, left.one or right.one
