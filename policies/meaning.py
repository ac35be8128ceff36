"""Whether a value is a total of the fleet or a figure for one pod. The HPA treats them differently.

AverageValue: desired = ceil(value / threshold), so the value must be a total. Value: desired = ceil(ready x value /
threshold), so it must be a level (Kubernetes pkg/controller/podautoscaler/replica_calculator.go). Where a query leaves
it open, neither is claimed.
"""

import re

from policies.shape import ENGINE, Shape

_ADDITIVE = frozenset(
    f"{ENGINE}{name}"
    for name in (
        "num_requests_running",
        "num_requests_waiting",
        "kv_cache_usage_perc",
        "gpu_cache_usage_perc",
    )
)
_COUNTER = re.compile(r"_(?:total|sum|count|bucket)$")
# Numbers of pods; a limit such as kube_horizontalpodautoscaler_spec_max_replicas does not follow the fleet.
_PODS = re.compile(
    r"^(?!headroom:)(?!.*(?:max|min)).*replicas"
    r"|^kube_pod_(?:info|status_(?:ready|phase|scheduled))$|workers$|^up$"
)
_OVER_TIME = frozenset(f"{name}_over_time" for name in ("max", "min", "avg", "last", "quantile"))
_KEEP_TOTAL = _OVER_TIME | {"abs", "ceil", "floor", "round", "clamp", "clamp_max", "clamp_min"}
_RATES = frozenset(("rate", "irate", "increase"))


def additive(name: str) -> bool:
    """Whether the sum of this metric's elements surely grows with the fleet: counters, and the engines' gauges."""
    return name in _ADDITIVE or _COUNTER.search(name) is not None


def counts_pods(name: str) -> bool:
    """Whether this metric is a number of pods."""
    return _PODS.search(name) is not None


def keeps_additive(function: str) -> bool:
    """Whether a function's results add up as its argument's elements do."""
    return function in _RATES or function in _OVER_TIME


def keeps_total(function: str) -> bool:
    """Whether a function of a total is one."""
    return function in _KEEP_TOTAL


def total_of(name: str, inner: Shape) -> bool:
    """Whether an aggregation is surely a total."""
    same = inner.one and inner.total
    return (name == "sum" and (inner.additive or same)) or (name in ("max", "min") and same)


def mean_of(name: str, inner: Shape) -> bool:
    """Whether an aggregation is surely a figure for one pod."""
    if name in ("avg", "quantile", "stddev", "stdvar"):
        return True
    if name in ("max", "min") and inner.engines_only and not inner.grouped:
        return True
    return inner.mean and (name not in ("sum", "count") or inner.one)


def mean_between(left: Shape, operator: str, right: Shape) -> bool:
    """Whether two values combined are surely a figure for one pod, or a ratio that the fleet's size cancels from."""
    if operator == "*":
        return (left.mean or right.mean) and not (left.counted or right.counted)
    if operator != "/":
        return left.mean
    cancels = left.total and right.total and left.engines_only and right.engines_only
    return left.mean or right.counted or cancels or _histogram_mean(left, right)


def _histogram_mean(left: Shape, right: Shape) -> bool:
    """A histogram's sum by its count."""
    if len(left.metrics) != 1 or len(right.metrics) != 1:
        return False
    ((above, _),), ((below, _),) = left.metrics, right.metrics
    return above.endswith("_sum") and f"{above.removesuffix('_sum')}_count" == below
