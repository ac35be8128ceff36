"""The dashboards as Grafana would load them and a person would look at them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import promql_parser
import pytest

from specs.dashboards.config_maps import config_maps, dashboards
from specs.dashboards.dashboard import RATE, Dashboard
from specs.promql_shape import metric_names
from tests.unit.specs.known_series import known
from tests.unit.specs.stack import settings

STACK = settings(
    {},
    {"name": "mistral-7b", "replicas": {"min": 0, "max": 3}},
    gpuBudget={"maxGpus": 32, "maxMonthlyUsd": 30_000},
)
EACH = pytest.mark.parametrize("shown", dashboards(STACK), ids=lambda shown: shown.uid)


def document(shown: Dashboard) -> dict[str, Any]:
    return json.loads(shown.text(5))


def panels(shown: Dashboard) -> list[dict[str, Any]]:
    return [panel for panel in document(shown)["panels"] if panel["type"] != "row"]


def queries(shown: Dashboard) -> Iterator[tuple[str, str]]:
    for panel in panels(shown):
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


def parsed(expr: str) -> promql_parser.Expr:
    return promql_parser.parse(expr.replace(RATE, "2m"))


@EACH
def test_every_query_is_promql_over_series_that_somebody_exports(shown: Dashboard) -> None:
    for expr, _ in queries(shown):
        assert set(metric_names(parsed(expr))) <= known(), expr


@EACH
def test_no_panel_lies_over_another_or_beyond_the_edge(shown: Dashboard) -> None:
    places = [panel["gridPos"] for panel in document(shown)["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or apart, (one, other)


@EACH
def test_every_line_of_panels_is_filled_to_the_edge(shown: Dashboard) -> None:
    lines: dict[int, int] = {}
    for panel in document(shown)["panels"]:
        place = panel["gridPos"]
        lines[place["y"]] = lines.get(place["y"], 0) + place["w"]
    assert set(lines.values()) == {24}


@EACH
def test_every_panel_has_a_title_of_its_own_and_says_what_it_shows(shown: Dashboard) -> None:
    every = [panel["id"] for panel in document(shown)["panels"]]
    assert len(every) == len(set(every))
    titles = [panel["title"] for panel in panels(shown)]
    assert len(titles) == len(set(titles))
    for panel in panels(shown):
        assert panel["description"]


@EACH
def test_every_legend_names_labels_that_its_query_keeps(shown: Dashboard) -> None:
    for expr, legend in queries(shown):
        assert legend
        for label in re.findall(r"{{(\w+)}}", legend):
            assert re.search(rf"(by|on) \([^)]*\b{label}\b|on\([^)]*\b{label}\b", expr), (expr, legend)


@EACH
def test_every_variable_that_a_query_reads_is_declared(shown: Dashboard) -> None:
    found = document(shown)
    declared = {variable["name"] for variable in found["templating"]["list"]}
    read = set(re.findall(r"\$\{?(\w+)", json.dumps([found["panels"], found["annotations"]])))
    assert read - {"__rate_interval"} == declared


@EACH
def test_it_is_found_under_the_same_address_in_every_installation(shown: Dashboard) -> None:
    assert re.fullmatch(r"headroom-[a-z]{3,31}", shown.uid)


def test_one_config_map_each_bears_the_sidecars_label() -> None:
    found = config_maps(STACK)
    assert len({entry.name for entry in found}) == len(found) == 4
    for entry, shown in zip(found, dashboards(STACK), strict=True):
        assert entry.labels["grafana_dashboard"] == "1"
        assert entry.data == {f"{shown.uid}.json": shown.text(5)}
        assert entry.namespace == "monitoring"


def test_a_model_more_changes_no_dashboard() -> None:
    """A change of a ConfigMap replaces it: a model that comes or goes must leave the others' objects alone."""
    one, two = settings(), settings({}, {"name": "mistral-7b", "replicas": {"min": 0, "max": 3}})
    assert config_maps(one) == config_maps(two)
