"""The series that a model's triggers read, taken from the queries that are deployed."""

from collections.abc import Sequence
from typing import Any, cast

import promql_parser as promql

from lab.doctor.seen import Selector
from specs.metrics_names import ROUTER_WORKERS, router_labels
from specs.promql import Metric, render
from specs.promql_shape import parse, walk
from specs.scaling import scaled_object
from specs.settings.model import Model
from specs.settings.stack import Settings


def queries(settings: Settings, model: Model) -> dict[str, str]:
    """The query of each trigger that asks Prometheus, by the trigger's name."""
    return {
        str(one["name"]): str(one["metadata"]["query"])
        for one in triggers(settings, model)
        if "query" in one["metadata"]
    }


def triggers(settings: Settings, model: Model) -> Sequence[dict[str, Any]]:
    """The triggers of the ScaledObject as it is deployed."""
    spec = cast(dict[str, Any], scaled_object(settings, model)["spec"])
    return cast(Sequence[dict[str, Any]], spec["triggers"])


def read_by(query: str) -> list[Selector]:
    """The selectors of a query, each once; none of a text that is no PromQL."""
    expr = parse(query)
    if isinstance(expr, str):
        return []
    found = {_selector(part) for part in walk(expr) if isinstance(part, promql.VectorSelector)}
    return sorted(found)


def alive(model: Model) -> Selector:
    """The one series of a router that exists from its first scrape on."""
    (found,) = read_by(render(Metric(ROUTER_WORKERS, router_labels(model))))
    return found


def of_model(settings: Settings, model: Model) -> list[Selector]:
    """All that the model's triggers read, and the router's sign of life."""
    found = {one for query in queries(settings, model).values() for one in read_by(query)}
    return sorted(found | {alive(model)})


def _selector(part: promql.VectorSelector) -> Selector:
    matchers = part.matchers.matchers
    equal = tuple((one.name, one.value) for one in matchers if one.op == promql.MatchOp.Equal)
    name = part.name or dict(equal).get("__name__", "")
    text = f"{part.name or ''}{part.matchers}" if matchers else name
    return Selector(text, name, tuple(pair for pair in equal if pair[0] != "__name__"))
