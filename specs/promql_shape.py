"""What a PromQL text written by a user would give KEDA: one element, many, or nothing it can decode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import promql_parser as promql

Shape = Literal["one", "many", "scalar", "range", "range of one"]
"""one: at most one element; many: one element a label set; scalar and ranges: KEDA can't decode them."""

# Aggregations whose result is not one element even without a grouping.
_MANY_AGGREGATIONS = ("topk", "bottomk", "count_values", "limitk", "limit_ratio")
_ONE_ELEMENT_CALLS = ("vector", "absent", "absent_over_time")


_LABELLING_CALLS = ("label_replace", "label_join", "absent", "absent_over_time")


def parse(query: str) -> promql.Expr | str:
    """The parsed query, or the parser's message."""
    try:
        return promql.parse(query)
    except ValueError as error:
        return str(error)


def shape(expr: promql.Expr) -> Shape:
    """What the expression evaluates to."""
    match expr:
        case promql.NumberLiteral() | promql.StringLiteral():
            return "scalar"
        case promql.ParenExpr() | promql.UnaryExpr():
            return shape(expr.expr)
        case promql.SubqueryExpr():
            return "range of one" if shape(expr.expr) == "one" else "range"
        case promql.MatrixSelector():
            return "range"
        case promql.AggregateExpr():
            return _aggregate(expr)
        case promql.Call():
            return _call(expr)
        case promql.BinaryExpr():
            return _binary(expr)
        case _:
            return "many"


def _aggregate(expr: promql.AggregateExpr) -> Shape:
    if str(expr.op) in _MANY_AGGREGATIONS:
        return "many"
    modifier = expr.modifier
    if modifier is None:
        return "one"
    # `sum by ()` keeps no label; `by (x)` and every `without` may keep one.
    by = modifier.type == promql.AggModifierType.By
    return "one" if by and not modifier.labels else "many"


def _call(expr: promql.Call) -> Shape:
    name = expr.func.name
    if name in ("scalar", "time", "pi"):
        return "scalar"
    if name in _ONE_ELEMENT_CALLS:
        return "one"
    shapes = [shape(argument) for argument in expr.args]
    vectors = [found for found in shapes if found != "scalar"]
    if not vectors:
        return "one"
    if name == "histogram_quantile" and _only_buckets(expr.args[-1]):
        return "one"
    return "one" if all(found in ("one", "range of one") for found in vectors) else "many"


def _only_buckets(expr: promql.Expr) -> bool:
    """`sum by (le) (...)`: the bucket label is the only one left, and the quantile takes it."""
    if isinstance(expr, promql.ParenExpr):
        return _only_buckets(expr.expr)
    if not isinstance(expr, promql.AggregateExpr) or expr.modifier is None:
        return False
    by = expr.modifier.type == promql.AggModifierType.By
    return by and list(expr.modifier.labels) == ["le"]


def _binary(expr: promql.BinaryExpr) -> Shape:
    left, right = shape(expr.lhs), shape(expr.rhs)
    if left == "scalar" and right == "scalar":
        return "scalar"
    operator = str(expr.op)
    if operator == "or":
        # Elements without labels match each other, so `sum(a) or vector(0)` is one element.
        reduced = left == "one" and right == "one"
        return "one" if reduced and not (_labelled(expr.lhs) or _labelled(expr.rhs)) else "many"
    if operator in ("and", "unless"):
        return left
    # An element without labels matches no labelled one, so both vector sides must be reduced.
    return "one" if all(found in ("one", "scalar") for found in (left, right)) else "many"


def _labelled(expr: promql.Expr) -> bool:
    """A single element that carries labels of its own, which no other element of an `or` matches."""
    match expr:
        case promql.ParenExpr() | promql.UnaryExpr():
            return _labelled(expr.expr)
        case promql.Call():
            return expr.func.name in _LABELLING_CALLS
        case promql.BinaryExpr():
            return _labelled(expr.lhs) or _labelled(expr.rhs)
        case _:
            return False


def walk(expr: promql.Expr) -> Iterator[promql.Expr]:
    """The expression and everything below it."""
    yield expr
    match expr:
        case promql.ParenExpr() | promql.UnaryExpr() | promql.AggregateExpr() | promql.SubqueryExpr():
            yield from walk(expr.expr)
        case promql.MatrixSelector():
            yield from walk(expr.vector_selector)
        case promql.Call():
            for argument in expr.args:
                yield from walk(argument)
        case promql.BinaryExpr():
            yield from walk(expr.lhs)
            yield from walk(expr.rhs)
        case _:
            return


def metric_names(expr: promql.Expr) -> list[str]:
    """Metric names the query reads, sorted."""
    found: set[str] = set()
    for part in walk(expr):
        if isinstance(part, promql.VectorSelector):
            matchers = part.matchers.matchers
            named = [matcher.value for matcher in matchers if matcher.name == "__name__"]
            found.update([part.name] if part.name else named)
    return sorted(found)
