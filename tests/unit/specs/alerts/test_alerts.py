"""What every alert says: a query over series that exist, a severity, a text, and a page of the runbook."""

from __future__ import annotations

import re
from pathlib import Path

import promql_parser
import pytest

from specs.alerts.alert import RUNBOOK, Alert
from specs.alerts.rules import model_alerts, model_group, platform_alerts, platform_groups, platform_rule
from specs.alerts.slo import TTFT_BOUNDS, in_time
from specs.promql import render
from specs.promql_shape import metric_names
from tests.unit.specs.known_series import known
from tests.unit.specs.stack import dig, only, settings

PROJECT = Path(__file__).resolve().parents[4]
EXPOSITION = PROJECT / "tests/unit/planner/calibrate/vllm-0.33-metrics.txt"
STACK = settings(
    {
        "scaling": {
            "schedule": [{"timezone": "UTC", "start": "0 8 * * *", "end": "0 18 * * *", "replicas": 3}]
        }
    },
    {"name": "mistral-7b", "replicas": {"min": 0, "max": 3}},
    {
        "name": "large",
        "capacity": None,
        "replicas": {"min": 1, "max": 2},
        "scaling": {"strategy": "concurrency"},
    },
    gpuBudget={"maxGpus": 32, "maxMonthlyUsd": 40_000},
)
ALERTS = [*platform_alerts(STACK), *(alert for model in STACK.models for alert in model_alerts(STACK, model))]
EACH = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)


@EACH
def test_it_is_promql_over_series_that_somebody_exports(alert: Alert) -> None:
    assert set(metric_names(promql_parser.parse(alert.expr))) <= known()


def test_what_alerts_are_computed_from_is_too() -> None:
    groups = [*platform_groups(STACK), *(model_group(STACK, model) for model in STACK.models)]
    records = [rule["expr"] for group in groups for rule in dig(group, "rules") if "record" in rule]
    assert records
    for expr in records:
        assert set(metric_names(promql_parser.parse(expr))) <= known()


@EACH
def test_its_texts_name_only_labels_that_it_has(alert: Alert) -> None:
    for label in re.findall(r"\$labels\.(\w+)", alert.summary + alert.description):
        assert label in alert.expr or label in alert.labels


def test_each_has_its_page_in_the_runbook() -> None:
    headings = re.findall(r"^#+ +(.+)$", (PROJECT / RUNBOOK).read_text(encoding="utf-8"), re.MULTILINE)
    # As GitHub makes an anchor of a heading: punctuation goes, spaces become hyphens.
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    assert not {alert.anchor for alert in ALERTS} - anchors


def test_a_rule_links_to_it() -> None:
    for alert in ALERTS:
        annotations = dig(alert.rule(), "annotations")
        assert annotations["runbook_url"] == f"docs/runbook.md#{alert.anchor}"
        assert annotations["summary"]
        assert annotations["description"]


def test_a_model_more_leaves_the_platforms_rules_alone() -> None:
    one, two = settings(), settings({}, {"name": "mistral-7b", "replicas": {"min": 0, "max": 3}})
    assert platform_rule(one) == platform_rule(two)


def test_a_models_alerts_say_which_model() -> None:
    for model in STACK.models:
        for alert in model_alerts(STACK, model):
            assert alert.labels == {"namespace": "llm-serving", "headroom_model": model.name}


def test_no_two_rules_of_a_group_are_the_same_alert() -> None:
    for group in (*platform_groups(STACK), *(model_group(STACK, model) for model in STACK.models)):
        named = [rule["alert"] for rule in dig(group, "rules") if "alert" in rule]
        assert len(named) == len(set(named))


def test_parts_that_are_not_installed_are_not_missed() -> None:
    """Somebody else's may not be scraped by this Prometheus: absence would say nothing."""
    found = settings(
        {},
        platform={
            "karpenter": {"install": False},
            "keda": {"install": False},
            "prometheus": {"install": False, "address": "http://prometheus.observability.svc:9090"},
            "gpuMetrics": {"install": False},
        },
    )
    told = {alert.name for alert in (*platform_alerts(found), *model_alerts(found, only(found)))}
    assert not told & {
        "HeadroomKedaUnseen",
        "HeadroomKarpenterUnseen",
        "HeadroomAutoscalerMissing",
        "HeadroomGpuMetricsMissing",
        "HeadroomRulesFailing",
    }


def test_platform_rules_stand_where_a_namespace_is_sure_to_be() -> None:
    there = settings(
        {}, platform={"prometheus": {"install": False, "address": "http://prometheus.obs.svc:9090"}}
    )
    assert dig(platform_rule(settings()), "metadata", "namespace") == "monitoring"
    assert dig(platform_rule(there), "metadata", "namespace") == "kube-system"


def test_a_model_without_a_forecast_has_no_alert_about_it() -> None:
    found = settings({"scaling": {"forecast": {"enabled": False}}})
    assert not [alert for alert in model_alerts(found, only(found)) if "Forecast" in alert.name]


def test_the_bounds_are_those_of_the_engines_histogram() -> None:
    told = re.findall(
        r'^vllm:time_to_first_token_seconds_bucket\{.*le="([^"]+)"', EXPOSITION.read_text(), re.M
    )
    assert [str(bound) for bound in TTFT_BOUNDS] == [bound for bound in told if bound != "+Inf"]


@pytest.mark.parametrize(
    ("seconds", "shares"),
    [
        (1, {"1.0": 1.0}),
        (2, {"1.0": 0.333333, "2.5": 0.666667}),
        (0.0005, {"0.001": 0.5}),
        (9999, {"2560.0": 1.0}),
    ],
)
def test_between_two_bounds_the_straight_line_is_read(seconds: float, shares: dict[str, float]) -> None:
    found = settings({"slo": {"ttftSeconds": seconds}, "ingress": {"enabled": False}})
    text = render(in_time(only(found)))
    read = re.findall(r'(?:([\d.]+) \* )?sum\(rate\([^)]*le="([^"]+)"', text)
    assert {bound: float(share or 1) for share, bound in read} == shares


def test_the_documented_table_is_complete() -> None:
    page = (PROJECT / "docs/observability.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(Headroom\w+)` \| (\w+) \|", page, re.MULTILINE)
    assert sorted(told) == sorted({(alert.name, alert.severity) for alert in ALERTS})
