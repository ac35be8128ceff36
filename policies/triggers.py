"""What is wrong with one trigger of a ScaledObject, in itself: lines of (found, allowed, way out)."""

from collections.abc import Iterator

from policies.plain import Plain, Unknown, dig, fields, shown
from policies.promql import analyze
from policies.quantity import quantity
from policies.shape import ENGINE, PromQLError, Shape

Problem = tuple[str, str, str]
_KUBERNETES_OWN = ("cpu", "memory")
_STRINGS = ("threshold", "activationThreshold", "ignoreNullValues", "query", "desiredReplicas")


def name_of(trigger: Plain, index: int) -> str:
    """How messages name a trigger."""
    name = dig(trigger, "name") if isinstance(trigger, dict) else None
    return f"trigger {name if isinstance(name, str) else index}"


def shape_of(trigger: Plain) -> Shape | None:
    """The shape of a Prometheus trigger's query; `None` for other triggers and for what can't be read."""
    query = dig(trigger, "metadata", "query") if isinstance(trigger, dict) else None
    if dig(trigger, "type") != "prometheus" or not isinstance(query, str):
        return None
    try:
        return analyze(query)
    except PromQLError:
        return None


def alive_at_zero(trigger: Plain) -> bool:
    """Whether a trigger can wake a workload that has no pod."""
    if not isinstance(trigger, dict):
        return False
    kind = trigger.get("type")
    if kind == "prometheus":
        shape = shape_of(trigger)
        return shape is not None and shape.alive
    return isinstance(kind, str) and kind not in _KUBERNETES_OWN


def problems(trigger: Plain, *, holds: bool) -> Iterator[Problem]:
    """Faults of one trigger; `holds` says that the ScaledObject has a fallback which never lowers."""
    if not isinstance(trigger, dict) or fields(trigger.get("metadata")) is None:
        yield "it can't be read now", "a trigger known in preview", "write it as plain values"
        return
    metadata = fields(trigger.get("metadata")) or {}
    for key in _STRINGS:
        if metadata.get(key) is not None and not isinstance(metadata[key], str | Unknown):
            yield (
                f"{key} is {shown(metadata[key])}",
                "a string",
                "put it in quotes: metadata holds strings only",
            )
    if trigger.get("type") != "prometheus":
        return
    metric_type = trigger.get("metricType")
    if metric_type not in ("AverageValue", "Value"):
        yield (
            f"metricType is {shown(metric_type)}",
            "AverageValue for a total, Value for a level",
            "state it: the default AverageValue divides by the replicas",
        )
    yield from _threshold(metadata.get("threshold"))
    yield from _query(metadata, metric_type, holds=holds)


def _threshold(stated: Plain) -> Iterator[Problem]:
    number = quantity(stated)
    if number is None or number * 1000 < 1:
        yield (
            f"threshold is {shown(stated)}",
            "at least 0.001",
            "smaller targets round to 0, which the HPA refuses",
        )


def _query(metadata: dict[str, Plain], metric_type: Plain, *, holds: bool) -> Iterator[Problem]:
    query = metadata.get("query")
    if not isinstance(query, str):
        yield f"query is {shown(query)}", "a query known in preview", "write it as a plain string"
        return
    try:
        shape = analyze(query)
    except PromQLError as error:
        yield f"query {shown(query)} is not PromQL: {error}", "a PromQL expression", "correct it"
        return
    if shape.kind != "vector":
        yield (
            f"query {shown(query)} is a {shape.kind}",
            "an instant vector of one element",
            "KEDA decodes vectors only: use sum(...) or vector(...)",
        )
    elif not shape.one:
        yield (
            f"query {shown(query)} may return several series",
            "exactly one series",
            "put sum(...) or max(...) around it, without by or without: KEDA refuses two elements",
        )
    if shape.mean and metric_type == "AverageValue":
        yield (
            f"query {shown(query)} is a mean or a level, under AverageValue",
            "a total under AverageValue, a level under Value",
            "use sum(...), or metricType Value: AverageValue divides once more",
        )
    if shape.total and metric_type == "Value":
        yield (
            f"query {shown(query)} is a total, under Value",
            "a total under AverageValue, a level under Value",
            "use metricType AverageValue, or avg(...): Value multiplies by the replicas, and never settles",
        )
    settled = shape.filled and not shape.nan
    if not settled and not (metadata.get("ignoreNullValues") == "false" and holds):
        yield (
            f"ignoreNullValues is {shown(metadata.get('ignoreNullValues'))}"
            f"{'' if holds else ' without a fallback that holds'}, and the query may be empty or NaN",
            'ignoreNullValues "false" with a fallback that never lowers, or a query with a zero default',
            'set ignoreNullValues: "false" and fallback.behavior: currentReplicasIfHigher, '
            "or end the query in `or vector(0)`",
        )
    for name, matched in sorted(shape.metrics):
        if name.startswith(ENGINE) and "model" in matched and "num_incoming" not in name:
            yield (
                f"{name} is matched on label model",
                "label model_name",
                "vLLM has no label model: the query is empty",
            )
