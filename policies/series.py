"""How many series a PromQL expression yields, whether it can be empty or NaN, and what it reads.

One rule per construct: an aggregation without labels yields one element, division by something that may be
zero yields NaN, `or` is filled by its right side.
"""

from dataclasses import dataclass, replace

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
ENGINE = "vllm:"
_ROUTER = ("num_incoming_requests", "current_qps", "healthy_pods")  # production-stack router, same prefix
_RANKS = frozenset(("topk", "bottomk", "limitk"))
_CLOCKS = frozenset(
    ("day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year")
)
Matching = tuple[str, frozenset[str]] | None
"""How two vectors are matched: on, ignoring, group_left, group_right or bool, with the labels named."""


class PromQLError(ValueError):
    """The text is not a query; the message says where reading stopped."""


@dataclass(frozen=True)
class Shape:
    """What an expression evaluates to."""

    kind: str = "vector"  # vector, scalar, matrix, string
    labels: frozenset[str] | None = None
    """Every label an element can carry; `None` when unbounded. Empty means at most one element."""
    single: bool = False
    """At most one element, whatever its labels."""
    filled: bool = False
    """Never empty."""
    nan: bool = False
    """May be NaN, which KEDA reads as null."""
    alive: bool = False
    """Carries a signal while no engine runs."""
    positive: bool = False
    """Filtered or clamped above zero: safe to divide by."""
    mean: bool = False
    """An average over pods rather than a total."""
    counted: bool = False
    """A number of pods or series: dividing by it makes a mean."""
    metrics: frozenset[tuple[str, frozenset[str]]] = frozenset()
    """Names read, each with the labels matched on."""

    @property
    def one(self) -> bool:
        """At most one element."""
        return self.single or self.labels == frozenset()


NUMBER = Shape(kind="scalar", filled=True)


def read(name: str, matched: frozenset[str]) -> Shape:
    bare = name.removeprefix(ENGINE)
    engine = name.startswith(ENGINE) and not bare.startswith(_ROUTER)
    return Shape(metrics=frozenset({(name, matched)}), alive=not engine)


def aggregate(name: str, inner: Shape, grouping: tuple[str, frozenset[str]] | None, first: str) -> Shape:
    how, named = grouping or ("by", frozenset[str]())
    mean = name in ("avg", "quantile") or inner.mean
    counted = name == "count" or inner.counted
    result = replace(inner, kind="vector", mean=mean, positive=False, counted=counted)
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
        return replace(NUMBER, metrics=metrics, nan=name == "scalar")
    if name == "vector":
        return Shape(
            labels=frozenset(), single=True, filled=True, positive=any(item.positive for item in arguments)
        )
    if name in _CLOCKS and not arguments:
        return Shape(labels=frozenset(), single=True, filled=True)
    judged = next((item for item in arguments if item.kind in ("vector", "matrix")), None)
    if judged is None:
        raise PromQLError(f"{name} needs a vector")
    result = replace(judged, kind="vector", positive=False)
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
        return replace(vector, metrics=metrics, nan=nan, filled=filled, positive=above)
    labels, single = _matched(left, right, how, named)
    per_pod = operator == "/" and _counts_pods(right)
    return Shape(
        labels=labels,
        single=single,
        filled=left.filled and right.filled and keeps and labels == frozenset(),
        nan=nan,
        alive=(left.alive and (right.alive or right.filled)) or (right.alive and left.filled),
        mean=left.mean or per_pod,
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


def _counts_pods(shape: Shape) -> bool:
    names = [name for name, _ in shape.metrics]
    return shape.counted or any(
        word in name for name in names for word in ("replicas", "kube_pod", "workers")
    )
