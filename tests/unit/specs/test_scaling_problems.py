"""Triggers, thresholds and schedules that would not work are refused; their near twins pass."""

from __future__ import annotations

from typing import Any

import pytest

from specs.scaling_problems import scaling_problems, scaling_warnings
from specs.settings import Model
from specs.settings.read import read
from tests.unit.specs.stack import LLAMA, POOLS


def model(**changes: Any) -> Model:
    config: dict[str, object] = {
        "headroom:gpuPools": list(POOLS),
        "headroom:gpuBudget": {"maxGpus": 32},
        "headroom:models": [LLAMA | changes],
    }
    return read(config).models[0]


def paths(**changes: Any) -> list[str]:
    return [problem.path for problem in scaling_problems(model(**changes), "models[0]")]


def trigger(query: str, **changes: Any) -> dict[str, Any]:
    return {"scaling": {"triggers": [{"name": "extra", "query": query, "threshold": 2} | changes]}}


@pytest.mark.parametrize(
    "query",
    [
        "vllm:num_requests_waiting",
        "sum by (pod) (vllm:num_requests_waiting)",
        "sum without (pod) (vllm:num_requests_waiting)",
        "rate(tokens_total[1m])",
        "topk(1, vllm:num_requests_waiting)",
        "tokens_total / sum(other_total)",
        "scalar(sum(vllm:num_requests_waiting))",
        "42",
        "time()",
        "tokens_total[5m]",
        "sum(a) or b",
    ],
)
def test_a_query_that_is_not_one_series_is_refused(query: str) -> None:
    """KD1"""
    assert paths(**trigger(query)) == ["models[0].scaling.triggers[0].query"]


@pytest.mark.parametrize(
    "query",
    [
        "sum(vllm:num_requests_waiting)",
        "sum by () (vllm:num_requests_waiting)",
        "sum(rate(tokens_total[1m])) or vector(0)",
        "max_over_time(sum(vllm:num_requests_waiting)[5m:])",
        "clamp_max(sum(a), 10) / 2",
        "vector(3)",
        "absent(a)",
        "-sum(a)",
        "sum(a) > bool 0",
    ],
)
def test_a_query_that_is_one_series_passes(query: str) -> None:
    assert paths(**trigger(query)) == []


def test_the_refusal_names_the_trigger() -> None:
    (problem,) = scaling_problems(model(**trigger("a")))
    assert "extra" in problem.given
    assert "sum(" in problem.fix


def test_text_that_is_no_promql_is_refused() -> None:
    assert paths(**trigger("sum(a")) == ["models[0].scaling.triggers[0].query"]


@pytest.mark.parametrize(
    "query",
    [
        "avg(a)",
        "sum(a) / count(b)",
        "quantile(0.9, a)",
        "avg(a) or vector(0)",
        "sum(avg(a))",
        "max(vllm:kv_cache_usage_perc)",
        "max(max_over_time(vllm:kv_cache_usage_perc[1m]))",
        "max(vllm:kv_cache_usage_perc) or vector(0)",
        "min(vllm:num_requests_waiting)",
        'sum(a) / sum(kube_deployment_status_replicas{deployment="m"})',
        "sum(a) / clamp_min(max(kube_deployment_status_replicas_ready), 1)",
        "sum(a) / (sum(up) or vector(1))",
        "sum(rate(wait_seconds_sum[1m])) / sum(rate(wait_seconds_count[1m]))",
        "sum(vllm:num_requests_waiting) / sum(vllm:num_requests_running)",
    ],
)
def test_a_figure_for_one_pod_under_average_value_is_refused_and_passes_under_value(query: str) -> None:
    """KD2"""
    assert paths(**trigger(query)) == ["models[0].scaling.triggers[0].metricType"]
    assert paths(**trigger(query, metricType="Value")) == []


@pytest.mark.parametrize(
    "query",
    [
        "sum(vllm:kv_cache_usage_perc)",
        "max(queue_length)",
        "max(sum by (model_name) (vllm:num_requests_waiting))",
        "sum(rate(requests_total[1m])) / avg(capacity)",
        "sum(a) / (sum(capacity) / count(capacity))",
        "avg(a) * count(a)",
        "sum(avg by (pod) (a))",
        "sum(a) / max(kube_horizontalpodautoscaler_spec_max_replicas)",
        "sum(rate(requests_total[1m])) / sum(limit)",
    ],
)
def test_a_total_or_what_may_be_one_passes_under_average_value(query: str) -> None:
    assert paths(**trigger(query)) == []


@pytest.mark.parametrize(
    "query",
    [
        "sum(vllm:num_requests_waiting)",
        "sum(vllm:num_requests_waiting) or vector(0)",
        "sum(vllm:num_requests_waiting) + sum(vllm:num_requests_running)",
        "sum(vllm:num_requests_waiting) / 2",
        "sum(rate(requests_total[1m]))",
        "100 * sum(rate(requests_total[1m]))",
        "clamp_max(sum(increase(vllm:prompt_tokens_total[1m])), 10)",
        "max_over_time(sum(vllm:num_requests_waiting)[5m:])",
        "max(sum(vllm:num_requests_waiting))",
        "sum(vllm:kv_cache_usage_perc)",
    ],
)
def test_a_total_under_value_is_refused_and_passes_under_average_value(query: str) -> None:
    """KD2"""
    assert paths(**trigger(query, metricType="Value")) == ["models[0].scaling.triggers[0].metricType"]
    assert paths(**trigger(query)) == []


@pytest.mark.parametrize(
    "query",
    [
        "max(vllm:kv_cache_usage_perc)",
        "sum(latency_seconds)",  # of one series: sum takes the labels away
        "sum(rate(hits_total[1m])) / sum(rate(asked_total[1m]))",
        "sum(rate(requests_total[1m])) / count(up)",
        "sum(rate(errors_total[1m])) > bool 5",
        "sum(a_total / b_total)",
        "histogram_quantile(0.9, sum by (le) (rate(wait_seconds_bucket[1m])))",
    ],
)
def test_a_level_or_what_may_be_one_passes_under_value(query: str) -> None:
    assert paths(**trigger(query, metricType="Value")) == []


@pytest.mark.parametrize("threshold", [0, -1, 0.0009])
def test_a_threshold_that_rounds_to_nothing_is_refused(threshold: float) -> None:
    """KD16"""
    assert paths(**trigger("sum(a)", threshold=threshold)) == ["models[0].scaling.triggers[0].threshold"]
    assert paths(**trigger("sum(a)", threshold=0.001)) == []


@pytest.mark.parametrize(
    ("query", "image", "refused"),
    [
        ("sum(vllm:gpu_cache_usage_perc)", "v0.33.0", True),
        ("sum(vllm:gpu_cache_usage_perc)", "v0.10.2", False),
        ("sum(vllm:kv_cache_usage_perc)", "v0.10.2", True),
        ("sum(vllm:kv_cache_usage_perc)", "v0.33.0", False),
        ('sum({__name__="vllm:gpu_cache_usage_perc"})', "v0.33.0", True),
        ("sum(vllm:num_requests_swapped)", "v0.33.0", True),
    ],
)
def test_a_metric_that_the_image_does_not_export_is_refused(query: str, image: str, refused: bool) -> None:
    """VL1"""
    found = paths(image=f"vllm/vllm-openai:{image}", **trigger(query))
    assert bool(found) is refused


DIGEST = "registry.example.com:5000/vllm/vllm-openai@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("sum(vllm:gpu_cache_usage_perc)", True),
        ("sum(vllm:num_requests_swapped)", True),
        ("sum(vllm:kv_cache_usage_perc)", False),
        ("sum(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc)", False),
    ],
)
def test_an_image_that_tells_no_version_is_judged_by_the_newest_metrics(query: str, refused: bool) -> None:
    found = scaling_problems(model(image=DIGEST, **trigger(query)))
    assert bool(found) is refused
    assert all("taken for vLLM 0.33" in problem.allowed for problem in found)


def test_a_label_that_vllm_does_not_have_is_refused() -> None:
    assert paths(**trigger('sum(vllm:num_requests_waiting{model="a"})'))
    assert not paths(**trigger('sum(vllm:num_requests_waiting{model_name="a"})'))


@pytest.mark.parametrize("name", ["queue", "forecast", "schedule-0"])
def test_a_trigger_name_of_our_own_is_refused(name: str) -> None:
    assert paths(**trigger("sum(a)", name=name)) == ["models[0].scaling.triggers[0].name"]


def test_two_triggers_with_one_name_are_refused() -> None:
    twice = [
        {"name": "x", "query": "sum(a)", "threshold": 1},
        {"name": "x", "query": "sum(b)", "threshold": 1},
    ]
    assert paths(scaling={"triggers": twice}) == ["models[0].scaling.triggers[1].name"]


ENTRY = {"timezone": "America/New_York", "start": "45 8 * * 1-5", "end": "0 18 * * 1-5", "replicas": 4}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"timezone": "America/Newyork"}, "timezone"),
        ({"timezone": "../etc/passwd"}, "timezone"),
        ({"start": "45 25 * * 1-5"}, "start"),
        ({"start": "45 8 * *"}, "start"),
        ({"start": "0 0 30 2 *"}, "start"),
        ({"start": "@daily"}, "start"),
        ({"end": "0 18 * * 7"}, "end"),
        ({"end": "45  8 * * 1-5"}, "end"),
        ({"replicas": 11}, "replicas"),
    ],
)
def test_a_schedule_that_can_not_work_is_refused(change: dict[str, Any], key: str) -> None:
    assert paths(scaling={"schedule": [ENTRY | change]}) == [f"models[0].scaling.schedule[0].{key}"]


@pytest.mark.parametrize(
    "change", [{}, {"start": "*/15 6-8 * JAN-MAR MON"}, {"replicas": 10}, {"timezone": "UTC"}]
)
def test_a_schedule_that_works_passes(change: dict[str, Any]) -> None:
    assert paths(scaling={"schedule": [ENTRY | change]}) == []


def test_the_rate_strategy_needs_a_capacity() -> None:
    assert paths(capacity=None) == ["models[0].capacity"]
    assert paths(capacity=None, scaling={"strategy": "concurrency"}) == []


def test_polling_and_cooldown_above_one_replica_are_warned_about() -> None:
    """KD11"""
    stated = {"pollingSeconds": 2, "cooldownSeconds": 60}
    found = [problem.path for problem in scaling_warnings(model(scaling=stated), "m")]
    assert found == ["m.scaling.cooldownSeconds", "m.scaling.pollingSeconds"]
    assert not scaling_warnings(model())
    assert not scaling_warnings(model(scaling=stated, replicas={"min": 0, "max": 2}))
