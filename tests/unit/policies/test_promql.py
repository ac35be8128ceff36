"""How many series a query returns, whether it may be empty, and what wakes a service at zero."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.promql import analyze
from policies.shape import PromQLError

ONE = [
    "sum(vllm:num_requests_waiting)",
    'sum by () (vllm:num_requests_waiting{model_name="m"})',
    "sum(a) + sum(b)",
    "sum(rate(a[1m])) / sum(rate(b[5m]))",
    "vector(1)",
    "sum(a) or vector(0)",
    "(sum(a) or vector(0)) + (sum(b) or vector(0))",
    "clamp_min(sum(a), 1)",
    "clamp_max(max(a), scalar(sum(b)))",
    "max(headroom:demand_replicas{model='m'})",
    "sum(a) by ()",
    "quantile(0.9, a)",
    "histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))",
    'label_replace(sum(a), "x", "y", "", "")',
    "topk(1, a)",
    "count(a) * 2",
    "sum(a) > 5",
    "sum(a) > bool 5",
    "absent(a)",
    "sum(max by (pod) (a))",
    "max_over_time(sum(a)[10m:30s])",
    "sum(a offset 5m)",
    "sum(a @ end())",
    "-sum(a)",
    "2 ^ sum(a)",
    "sum(a) / on () sum(b)",
    "sum(a) and on () sum(b) > 0",
    "sum(\n  a # comment\n)",
    "time() - vector(1)",
    "hour()",
    "predict_linear(sum(a)[10m:1m], 600)",
    "round(sum(a))",
    "sum({__name__=~'a|b'})",
    "SUM(a)",
    "avg(a) * scalar(count(b))",
    "stddev(a)",
    "1 - (sum(a) / 100)",
    "sum(a) or on () vector(0)",
]


@pytest.mark.parametrize("query", ONE)
def test_a_query_that_yields_one_series_is_recognised(query: str) -> None:
    shape = analyze(query)
    assert shape.kind == "vector"
    assert shape.one


MANY = [
    "vllm:num_requests_waiting",
    'vllm:num_requests_waiting{model_name="m"}',
    "sum by (pod) (a)",
    "sum without (pod) (a)",
    "sum(a) by (model_name)",
    "rate(a[1m])",
    "a or vector(0)",
    "max by (x) (a) or vector(0)",
    'label_replace(sum(a), "x", "y", "", "") or vector(0)',
    "topk(2, a)",
    "topk(1, a) by (pod)",
    "count_values('v', a)",
    "a + b",
    "a * on (pod) b",
    "a * on (pod) group_left () sum(b)",
    "histogram_quantile(0.95, sum by (le, pod) (rate(x_bucket[5m])))",
    "histogram_quantile(0.95, rate(x_bucket[5m]))",
    "clamp_min(a, 0)",
    "headroom:demand_replicas",
    "sum(a) or b",
    "absent(a) or vector(0)",
]


@pytest.mark.parametrize("query", MANY)
def test_a_query_that_may_yield_several_series_is_recognised(query: str) -> None:
    assert not analyze(query).one


@pytest.mark.parametrize("query", ["1", "scalar(sum(a))", "1 + 2", "time()", "scalar(a) * 3"])
def test_a_scalar_is_recognised(query: str) -> None:
    assert analyze(query).kind == "scalar"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "sum(",
        "sum(a",
        "sum(a))",
        "a b",
        "sum(a) by",
        "{",
        "a{x}",
        "a[5m",
        "sum(1)",
        "vector",
        "1 or 2",
        "§",
    ],
)
def test_what_is_no_query_is_refused_or_no_vector(query: str) -> None:
    try:
        shape = analyze(query)
    except PromQLError:
        return
    assert not shape.one


@pytest.mark.parametrize(
    ("query", "settled"),
    [
        ("sum(a) or vector(0)", True),
        ("(sum(a) or vector(0)) / 2", True),
        ("(sum(a) or vector(0)) + (sum(b) or vector(0))", True),
        ("sum(sum(a) or vector(0))", True),
        ("(sum(a) / (sum(b) > 0)) or vector(0)", True),
        ("sum(a) / clamp_min(sum(b), 1) or vector(0)", True),
        ("sum(a)", False),
        ("(sum(a) / sum(b)) or vector(0)", False),
        ("(sum(a) or vector(0)) + sum(b)", False),
        ("(sum(a) or vector(0)) > 1", False),
        ("(sum(a) or vector(0)) > bool 1", True),
        ("((sum(a) / sum(b)) >= 0) or vector(0)", True),
        ("(sum(a) or vector(0)) / 0", False),
        ("(sum(a) or vector(0)) and sum(b)", False),
    ],
)
def test_a_query_is_settled_when_it_is_never_empty_and_never_nan(query: str, settled: bool) -> None:
    shape = analyze(query)
    assert (shape.filled and not shape.nan) is settled


@pytest.mark.parametrize(
    ("query", "alive"),
    [
        ("sum(rate(vllm_router_processed_requests_total[1m]))", True),
        ("sum(rate(vllm:num_incoming_requests_total[1m]))", True),
        ("max(headroom:demand_replicas)", True),
        ("sum(vllm:num_requests_waiting)", False),
        ("sum(vllm:num_requests_waiting) or vector(0)", False),
        ("sum(vllm:num_requests_waiting) or sum(router_requests)", True),
        ("sum(vllm:num_requests_waiting) + sum(router_requests)", False),
        ("(sum(vllm:num_requests_waiting) or vector(0)) + sum(router_requests)", True),
        ("sum(router_requests) and on () sum(vllm:num_requests_running)", True),
        ("vector(1)", False),
        ("absent(vllm:num_requests_running)", True),
    ],
)
def test_a_signal_is_alive_at_zero_when_it_needs_no_engine(query: str, alive: bool) -> None:
    assert analyze(query).alive is alive


@pytest.mark.parametrize(
    ("query", "mean"),
    [
        ("avg(a)", True),
        ("sum(a) / count(a)", True),
        ("sum(a) / sum(kube_deployment_status_replicas)", True),
        ("avg(a) or vector(0)", True),
        ("clamp_min(avg(a), 0)", True),
        ("quantile(0.9, a)", True),
        ("stddev(a)", True),
        ("sum(avg(a))", True),
        ("sum(a) / scalar(count(a))", True),
        ("sum(a) / clamp_min(max(kube_deployment_status_replicas_ready), 1)", True),
        ("sum(a) / (sum(up) or vector(1))", True),
        ("max(vllm:kv_cache_usage_perc)", True),
        ("max(max_over_time(vllm:kv_cache_usage_perc[1m]))", True),
        ("max(vllm:kv_cache_usage_perc) or vector(0)", True),
        ("sum(rate(wait_seconds_sum[1m])) / sum(rate(wait_seconds_count[1m]))", True),
        ("sum(vllm:num_requests_waiting) / sum(vllm:num_requests_running)", True),
        ("sum(a)", False),
        ("sum(a) / 2", False),
        ("max(a)", False),
        ("count(a)", False),
        ("sum(vllm:kv_cache_usage_perc)", False),
        ("max(sum by (model_name) (vllm:num_requests_waiting))", False),
        ("max(vllm:current_qps)", False),
        ("sum(avg by (pod) (a))", False),
        ("avg(a) * count(a)", False),
        ("sum(a) / (sum(capacity) / count(capacity))", False),
        ("sum(a) / max(kube_horizontalpodautoscaler_spec_max_replicas)", False),
        ("sum(rate(requests_total[1m])) / sum(rate(limit_total[1m]))", False),
    ],
)
def test_a_mean_over_pods_is_told_from_a_total(query: str, mean: bool) -> None:
    assert analyze(query).mean is mean


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("sum(vllm:num_requests_waiting)", True),
        ("sum(vllm:num_requests_waiting) or vector(0)", True),
        ("sum(vllm:num_requests_waiting) + sum(vllm:num_requests_running)", True),
        ("sum(vllm:num_requests_waiting + vllm:num_requests_running)", True),
        ("sum(sum by (pod) (vllm:num_requests_waiting))", True),
        ("100 * sum(rate(requests_total[1m])) / 2", True),
        ("max_over_time(sum(vllm:num_requests_waiting)[5m:])", True),
        ("max(sum(vllm:kv_cache_usage_perc))", True),
        ("sum(latency_seconds)", False),
        ("max(vllm:kv_cache_usage_perc)", False),
        ("sum(rate(hits_total[1m])) / sum(rate(asked_total[1m]))", False),
        ("sum(rate(requests_total[1m])) / scalar(count(up))", False),
        ("sum(rate(errors_total[1m])) > bool 5", False),
        ("sum(a_total / b_total)", False),
        ("sum(max by (pod) (a_total))", False),
        ("deriv(sum(a_total)[5m:])", False),
        ("histogram_quantile(0.9, sum by (le) (rate(wait_seconds_bucket[1m])))", False),
    ],
)
def test_a_sure_total_is_told_from_what_may_be_a_level(query: str, total: bool) -> None:
    assert analyze(query).total is total


def test_names_inside_strings_and_matchers_are_not_metrics() -> None:
    shape = analyze('sum(rate(requests_total{path="vllm:fake",le=~"a|b"}[5m])) or vector(0)')
    assert {name for name, _ in shape.metrics} == {"requests_total"}
    assert dict(shape.metrics)["requests_total"] == {"path", "le"}


@given(st.text(alphabet="sumavgby()[]{}=~\"',.:+-*/ 0159ortopk\n", max_size=60))
def test_no_text_makes_the_reader_raise_anything_else(query: str) -> None:
    with suppress(PromQLError):
        analyze(query)


def test_deep_nesting_is_refused_and_not_followed() -> None:
    with pytest.raises(PromQLError, match="nested too deeply"):
        analyze("(" * 5000)
    with pytest.raises(PromQLError, match="nested too deeply"):
        analyze("-" * 5000 + "1")
