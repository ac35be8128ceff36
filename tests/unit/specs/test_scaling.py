"""The ScaledObject: every trigger, the fallback and the behaviour."""

from __future__ import annotations

from typing import Any

import promql_parser
import pytest

from planner.replay.hpa import proposal
from specs.promql_shape import parse, shape
from specs.scaling import scaled_object
from tests.unit.specs.stack import dig, only, settings


def body(*models: dict[str, Any], **sections: object) -> Any:
    found = settings(*models, weights={"backend": "hub"}, **sections)
    return scaled_object(found, only(found))


def triggers(*models: dict[str, Any], **sections: object) -> dict[str, Any]:
    return {trigger["name"]: trigger for trigger in dig(body(*models, **sections), "spec", "triggers")}


ZERO: dict[str, Any] = {"replicas": {"min": 0, "max": 10}}
EVERY_KIND = [
    {},
    ZERO,
    {"scaling": {"strategy": "concurrency"}},
    ZERO | {"scaling": {"strategy": "concurrency"}},
    {"scaling": {"strategy": "queue"}},
    {"scaling": {"forecast": {"enabled": False}}},
    {"image": "vllm/vllm-openai:v0.10.2"},
]


@pytest.mark.parametrize("model", EVERY_KIND)
def test_every_query_reduces_to_one_series(model: dict[str, Any]) -> None:
    """KD1"""
    for trigger in triggers(model).values():
        expr = parse(trigger["metadata"]["query"])
        assert not isinstance(expr, str)
        assert shape(expr) == "one"


@pytest.mark.parametrize("model", EVERY_KIND)
def test_an_empty_result_is_a_failure_and_never_zero(model: dict[str, Any]) -> None:
    """KD5"""
    for trigger in triggers(model).values():
        assert trigger["metadata"]["ignoreNullValues"] == "false"


@pytest.mark.parametrize("model", EVERY_KIND)
def test_the_metric_type_is_stated_and_numbers_are_text(model: dict[str, Any]) -> None:
    """KD2, KD16"""
    for trigger in triggers(model).values():
        assert trigger["metricType"] in ("AverageValue", "Value")
        assert all(isinstance(value, str) for value in trigger["metadata"].values())
        assert float(trigger["metadata"]["threshold"]) >= 0.001


def test_eighteen_waiting_requests_ask_for_nine_replicas() -> None:
    """KD2"""
    queue = triggers()["queue"]
    assert queue["metadata"]["query"].startswith("sum(vllm:num_requests_waiting{")
    assert proposal(18, float(queue["metadata"]["threshold"]), queue["metricType"], 1, 1) == 9


def test_a_full_cache_on_four_replicas_asks_for_five() -> None:
    """KD2"""
    cache = triggers()["kv-cache"]
    assert cache["metadata"]["query"].startswith("avg(")
    assert proposal(0.95, float(cache["metadata"]["threshold"]), cache["metricType"], 4, 4) == 5


def test_the_offered_load_is_measured_at_arrival() -> None:
    """KD24"""
    offered = triggers()["offered"]["metadata"]
    assert "vllm_router_processed_requests_total" in offered["query"]
    assert float(offered["threshold"]) == pytest.approx(1.65 * 0.8)


def test_the_queue_strategy_reads_queue_and_cache_alone() -> None:
    assert list(triggers({"scaling": {"strategy": "queue"}})) == ["queue", "kv-cache"]


def test_the_concurrency_target_lies_below_the_batch_limit_in_the_measured_ratio() -> None:
    target = float(triggers({"scaling": {"strategy": "concurrency"}})["in-flight"]["metadata"]["threshold"])
    assert target == pytest.approx(64 * 0.62, rel=0.02)


def test_an_outage_holds_what_runs() -> None:
    """KD7"""
    spec = body({"replicas": {"min": 2, "max": 6}})["spec"]
    assert spec["fallback"] == {
        "failureThreshold": 3,
        "replicas": 2,
        "behavior": "currentReplicasIfHigher",
    }
    assert spec["minReplicaCount"] <= spec["fallback"]["replicas"] <= spec["maxReplicaCount"]


def test_the_fallback_of_a_model_at_zero_is_one_replica() -> None:
    assert body(ZERO)["spec"]["fallback"]["replicas"] == 1


def test_polling_and_cooldown_are_left_out_where_they_do_nothing() -> None:
    """KD11"""
    assert not {"pollingInterval", "cooldownPeriod"} & body()["spec"].keys()


def test_polling_and_cooldown_are_stated_for_a_model_at_zero() -> None:
    spec = body(ZERO)["spec"]
    assert (spec["pollingInterval"], spec["cooldownPeriod"], spec["minReplicaCount"]) == (5, 300, 0)


def test_a_model_at_zero_is_woken_by_what_its_router_holds() -> None:
    """KD13"""
    wake = triggers(ZERO)["wake"]["metadata"]
    assert 'error_type="no_available_workers"' in wake["query"]
    assert "or vector(0)" in wake["query"]
    assert "wake" not in triggers()


@pytest.mark.parametrize("name", ["queue", "kv-cache"])
def test_engine_series_default_to_zero_only_where_zero_replicas_are_allowed(name: str) -> None:
    """KD5"""
    assert triggers(ZERO)[name]["metadata"]["query"].endswith("or vector(0)")
    assert "vector(0)" not in triggers()[name]["metadata"]["query"]


def test_what_is_expected_can_only_raise() -> None:
    """KD28: an absent forecast reads as 0, which loses against every other proposal."""
    for name in ("headroom", "forecast"):
        assert triggers()[name]["metadata"]["query"].endswith("or vector(0)")
    assert "forecast" not in triggers({"scaling": {"forecast": {"enabled": False}}})


def test_a_whisper_of_a_forecast_wakes_nothing() -> None:
    trigger = triggers(ZERO)["forecast"]["metadata"]
    assert float(trigger["activationThreshold"]) == pytest.approx(0.05 * 1.65 * 0.8)


def test_growth_takes_the_larger_allowance_at_once_and_shrinking_waits() -> None:
    rules = dig(body(), "spec", "advanced", "horizontalPodAutoscalerConfig", "behavior")
    assert rules["scaleUp"] == {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 9, "periodSeconds": 15},
            {"type": "Percent", "value": 400, "periodSeconds": 15},
        ],
    }
    assert rules["scaleDown"]["stabilizationWindowSeconds"] == 300
    assert rules["scaleDown"]["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 60}]


def test_a_schedule_is_a_floor_with_a_time_zone() -> None:
    entry = {
        "timezone": "America/New_York",
        "start": "45 8 * * 1-5",
        "end": "0 18 * * 1-5",
        "replicas": 4,
    }
    found = triggers({"scaling": {"schedule": [entry]}})["schedule-0"]
    assert found["type"] == "cron"
    assert found["metadata"] == {
        "timezone": "America/New_York",
        "start": "45 8 * * 1-5",
        "end": "0 18 * * 1-5",
        "desiredReplicas": "4",
    }


def test_a_users_trigger_is_added_as_written() -> None:
    extra = {"name": "tokens", "query": "sum(rate(tokens_total[1m]))", "threshold": 1500}
    found = triggers({"scaling": {"triggers": [extra]}})["tokens"]
    assert (found["metadata"]["query"], found["metadata"]["threshold"]) == (extra["query"], "1500")


@pytest.mark.parametrize(
    ("image", "old", "new"),
    [
        ("vllm/vllm-openai:v0.33.0", False, True),
        ("vllm/vllm-openai:v0.11.0", False, True),
        ("vllm/vllm-openai:v0.10.2", True, True),
        ("vllm/vllm-openai@sha256:" + "a" * 64, True, True),
    ],
)
def test_the_cache_metric_follows_the_images_version(image: str, old: bool, new: bool) -> None:
    """VL1: across the rename both names are read."""
    query = triggers({"image": image})["kv-cache"]["metadata"]["query"]
    assert ("vllm:gpu_cache_usage_perc" in query) is old
    assert ("vllm:kv_cache_usage_perc" in query) is new


def test_a_tenant_is_sent_along() -> None:
    sections = {"platform": {"prometheus": {"address": "http://mimir:9009/prometheus", "tenant": "team-a"}}}
    metadata = triggers(**sections)["queue"]["metadata"]
    assert metadata["customHeaders"] == "X-Scope-OrgID=team-a"
    assert metadata["serverAddress"] == "http://mimir:9009/prometheus"


def test_equal_settings_give_equal_bodies() -> None:
    assert body(ZERO) == body(ZERO)


def test_every_query_is_promql() -> None:
    for trigger in triggers(ZERO).values():
        promql_parser.parse(trigger["metadata"]["query"])
