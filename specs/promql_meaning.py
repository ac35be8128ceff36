"""What a query's value stands for: a total of the fleet, or a figure for one pod. The HPA treats them differently.

AverageValue: desired = ceil(value / threshold), so the value must be a total. Value: desired = ceil(ready x value /
threshold), so it must be a level (Kubernetes pkg/controller/podautoscaler/replica_calculator.go). Where a text leaves
it open, neither is claimed.
"""

from __future__ import annotations

import re
from typing import Final

import promql_parser as promql

from specs.metrics_names import KV_USAGE, KV_USAGE_BEFORE_0_11, ROUTER_RUNNING, RUNNING, WAITING
from specs.promql_shape import metric_names, shape, walk

_ENGINE: Final = "vllm:"
# The production-stack router's own series, which bear the engine's prefix.
_ROUTER: Final = ("vllm:num_incoming_requests", "vllm:current_qps", "vllm:healthy_pods")
_ADDITIVE: Final = frozenset((RUNNING, WAITING, ROUTER_RUNNING, KV_USAGE, KV_USAGE_BEFORE_0_11))
_COUNTER: Final = re.compile(r"_(total|sum|count|bucket)$")
# Numbers of pods; a limit such as kube_horizontalpodautoscaler_spec_max_replicas does not follow the fleet.
_PODS: Final = re.compile(
    r"^(?!headroom:)(?!.*(?:max|min)).*replicas"
    r"|^kube_pod_(?:info|status_(?:ready|phase|scheduled))$|workers$|^up$"
)
_MEANS: Final = ("avg", "quantile", "stddev", "stdvar")
_EXTREMES: Final = ("max", "min")
# What keeps a total a total: its size in other bounds, or over time.
_KEEP: Final = ("abs", "ceil", "floor", "round", "clamp", "clamp_min", "clamp_max", "sort", "sort_desc")
_OVER_TIME: Final = (
    "max_over_time",
    "min_over_time",
    "avg_over_time",
    "last_over_time",
    "quantile_over_time",
)


def is_mean(expr: promql.Expr) -> bool:
    """Surely a figure for one pod, or a ratio of the fleet: AverageValue would divide it by the replicas again."""
    match expr:
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            return is_mean(expr.expr)
        case promql.AggregateExpr():
            return _mean_of(expr)
        case promql.Call():
            return expr.func.name == "histogram_quantile" or any(is_mean(argument) for argument in expr.args)
        case promql.BinaryExpr():
            operator = str(expr.op)
            if operator == "/" and (counts_pods(expr.rhs) or _ratio(expr)):
                return True
            if operator == "*" and (counts_pods(expr.lhs) or counts_pods(expr.rhs)):
                return False
            return is_mean(expr.lhs) or (operator == "*" and is_mean(expr.rhs))
        case _:
            return False


def _mean_of(expr: promql.AggregateExpr) -> bool:
    operator = str(expr.op)
    if operator in _MEANS:
        return True
    if operator == "sum" and shape(expr.expr) == "one":
        return is_mean(expr.expr)  # it sums one element
    if operator not in _EXTREMES:
        return False
    # An engine's series are those of one pod, unless something below sums them.
    summed = any(isinstance(part, promql.AggregateExpr) for part in walk(expr.expr))
    return _engines_only(expr) and not summed


def _ratio(expr: promql.BinaryExpr) -> bool:
    """A histogram's sum by its count, or one total of the engines by another: the fleet's size cancels out."""
    above, below = metric_names(expr.lhs), metric_names(expr.rhs)
    if len(above) == len(below) == 1 and above[0].endswith("_sum") and below[0].endswith("_count"):
        return above[0].removesuffix("_sum") == below[0].removesuffix("_count")
    return is_total(expr.lhs) and is_total(expr.rhs) and _engines_only(expr.lhs) and _engines_only(expr.rhs)


def _engines_only(expr: promql.Expr) -> bool:
    names = metric_names(expr)
    return bool(names) and all(name.startswith(_ENGINE) and not name.startswith(_ROUTER) for name in names)


def is_total(expr: promql.Expr) -> bool:
    """Surely grows with the fleet: a sum of counters, of their rates, or of the engines' own gauges."""
    match expr:
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            return is_total(expr.expr)
        case promql.AggregateExpr() if str(expr.op) == "sum":
            return _additive(expr.expr)
        case promql.AggregateExpr() if str(expr.op) in _EXTREMES:
            return shape(expr.expr) == "one" and is_total(expr.expr)
        case promql.Call() if expr.func.name in (*_KEEP, *_OVER_TIME):
            return any(is_total(argument) for argument in expr.args)
        case promql.BinaryExpr():
            return _total_of(expr)
        case _:
            return False


def _total_of(expr: promql.BinaryExpr) -> bool:
    operator, left, right = str(expr.op), is_total(expr.lhs), is_total(expr.rhs)
    if operator == "or":
        return left
    if operator in ("+", "-"):
        return (left and (right or _number(expr.rhs))) or (right and _number(expr.lhs))
    if operator == "*":
        return (left and _number(expr.rhs)) or (right and _number(expr.lhs))
    return operator == "/" and left and _number(expr.rhs)


def _number(expr: promql.Expr) -> bool:
    return not metric_names(expr) and shape(expr) in ("scalar", "one")


def _additive(expr: promql.Expr) -> bool:
    """Elements that add up: nothing in them is divided, averaged or taken as a largest."""
    names = metric_names(expr)
    if not names or not all(name in _ADDITIVE or _COUNTER.search(name) for name in names):
        return False
    return not any(_breaks(part) for part in walk(expr))


def _breaks(part: promql.Expr) -> bool:
    match part:
        case promql.AggregateExpr():
            return str(part.op) != "sum"
        case promql.BinaryExpr():
            return str(part.op) not in ("+", "or")
        case promql.Call():
            return part.func.name not in ("rate", "irate", "increase", *_OVER_TIME)
        case _:
            return False


def counts_pods(expr: promql.Expr) -> bool:
    """The expression is a number of pods: a count, or what Kubernetes and the routers say of replicas."""
    match expr:
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            return counts_pods(expr.expr)
        case promql.AggregateExpr():
            return str(expr.op) == "count" or counts_pods(expr.expr)
        case promql.VectorSelector() | promql.MatrixSelector():
            return any(_PODS.search(name) for name in metric_names(expr))
        case promql.Call():
            return any(counts_pods(argument) for argument in expr.args)
        case promql.BinaryExpr():
            kept = str(expr.op) not in ("*", "/") or _number(expr.rhs)
            return kept and counts_pods(expr.lhs)
        case _:
            return False
