"""scaling-works: triggers that fire, hold and own the replicas (KD1 to KD16, VL1)."""

from copy import deepcopy
from typing import Any

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    container,
    deployment,
    edited,
    good,
    judged,
    messages,
    options,
    scaled_object,
)

TRIGGER = scaled_object()[1]["spec"]["triggers"][0]


def trigger(*, metric_type: object = "AverageValue", **metadata: object) -> Props:
    changed = deepcopy(TRIGGER)
    changed["metricType"] = metric_type
    changed["metadata"].update(metadata)
    return changed


def scaled(*triggers: object, image: str | None = None, **spec: object) -> list[str]:
    program: Program = {
        "model": deployment(),
        "scaler": scaled_object(**({"triggers": list(triggers)} if triggers else {}), **spec),
    }
    if image is not None:
        program = edited(program, "model", lambda props: container(props).update(image=image))
    return messages("scaling-works", program)


def test_the_good_program_passes() -> None:
    assert messages("scaling-works", good()) == []


def test_a_bare_gauge_is_refused_naming_the_trigger() -> None:
    (message,) = scaled(trigger(query='router_inflight{model="llama"}'))
    assert "trigger load" in message
    assert "may return several series" in message


def test_a_query_grouped_by_a_label_is_refused() -> None:
    assert "several series" in scaled(trigger(query="sum by (pod) (router_inflight)"))[0]


def test_a_scalar_is_refused() -> None:
    assert any("KEDA decodes vectors only" in message for message in scaled(trigger(query="scalar(sum(a))")))


def test_what_is_no_promql_is_refused() -> None:
    assert "is not PromQL" in scaled(trigger(query="sum(a"))[0]


@pytest.mark.parametrize("metric_type", [None, "Utilization", UNKNOWN])
def test_a_metric_type_must_be_stated(metric_type: object) -> None:
    assert "metricType" in scaled(trigger(metric_type=metric_type))[0]


def test_a_mean_is_refused_under_average_value_and_accepted_under_value() -> None:
    query = "avg(router_inflight)"
    assert "a mean or a level" in scaled(trigger(query=query))[0]
    assert scaled(trigger(query=query, metric_type="Value")) == []


def test_a_total_is_refused_under_value_and_accepted_under_average_value() -> None:
    query = "sum(rate(router_requests_total[1m]))"
    assert "is a total, under Value" in scaled(trigger(query=query, metric_type="Value"))[0]
    assert scaled(trigger(query=query)) == []


def test_the_fullest_engine_is_refused_under_average_value_and_accepted_under_value() -> None:
    query = "max(vllm:kv_cache_usage_perc)"
    assert "a mean or a level" in scaled(trigger(query=query))[0]
    assert scaled(trigger(query=query, metric_type="Value")) == []


@pytest.mark.parametrize("null", [None, "true", UNKNOWN])
def test_null_values_must_not_read_as_zero(null: object) -> None:
    assert "ignoreNullValues" in scaled(trigger(ignoreNullValues=null))[0]


def test_a_zero_default_in_the_query_stands_in_for_both() -> None:
    query = "sum(router_inflight) or vector(0)"
    assert scaled(trigger(query=query, ignoreNullValues=None), fallback=None) == []


def test_a_zero_default_that_may_still_be_nan_does_not() -> None:
    query = "(sum(a) / sum(b)) or vector(0)"
    assert "may be empty or NaN" in scaled(trigger(query=query, ignoreNullValues="true"))[0]


def test_a_missing_fallback_is_refused() -> None:
    assert "without a fallback that holds" in scaled(fallback=None)[0]


@pytest.mark.parametrize(
    ("fallback", "passes"),
    [
        ({"replicas": 1, "behavior": "currentReplicasIfHigher"}, True),
        ({"replicas": 4, "behavior": "currentReplicas"}, True),
        ({"replicas": 10, "behavior": "static"}, True),
        ({"replicas": 4, "behavior": "static"}, False),
        ({"replicas": 4}, False),
        ({"replicas": 4, "behavior": "currentReplicasIfLower"}, False),
        ({"replicas": 11, "behavior": "currentReplicasIfHigher"}, False),
        ({"replicas": 0, "behavior": "currentReplicasIfHigher"}, False),
        ({"replicas": UNKNOWN, "behavior": "currentReplicasIfHigher"}, False),
    ],
)
def test_a_fallback_holds_the_replicas_within_the_bounds(fallback: Props, passes: bool) -> None:
    assert (scaled(fallback={"failureThreshold": 3, **fallback}) == []) is passes


def test_a_modifier_target_that_switches_the_fallback_off_is_refused() -> None:
    advanced = {"scalingModifiers": {"formula": "load", "target": "0.85"}}
    assert "switches the fallback off" in scaled(advanced=advanced)[0]


@pytest.mark.parametrize("threshold", [None, "0", "-1", "0.0004", "many", UNKNOWN])
def test_a_threshold_that_rounds_to_zero_is_refused(threshold: object) -> None:
    assert any("threshold" in message for message in scaled(trigger(threshold=threshold)))


def test_metadata_that_is_no_string_is_refused() -> None:
    found = scaled(trigger(threshold=2, ignoreNullValues=False))
    assert [message for message in found if "metadata holds strings only" in message] != []


@pytest.mark.parametrize(
    ("query", "image", "passes"),
    [
        ("sum(vllm:kv_cache_usage_perc)", None, True),
        ("sum(vllm:gpu_cache_usage_perc)", None, False),
        ("sum(vllm:gpu_cache_usage_perc)", "vllm/vllm-openai:v0.9.2", True),
        ("sum(vllm:gpu_cache_usage_perc)", "corp/vllm-openai@sha256:" + "0" * 64, False),
        (
            "sum(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc)",
            f"corp/vllm-openai@sha256:{'0' * 64}",
            True,
        ),
        ("sum(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc)", None, False),
        ("sum(vllm:num_request_waiting)", f"corp/vllm-openai@sha256:{'0' * 64}", False),
        ("sum(vllm:num_request_waiting) or sum(router_inflight)", None, False),
        ("sum(vllm:num_requests_waiting) or sum(router_inflight)", None, True),
        ("sum(vllm:num_incoming_requests_total)", None, True),
        ("sum(vllm:num_request_waiting)", "vllm/vllm-openai:v0.9.2", False),
        ("sum(vllm:kv_cache_usage_perc)", "vllm/vllm-openai:v0.9.2", False),
        ("sum(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc)", "vllm/vllm-openai:v0.9.2", True),
        ("sum(vllm:avg_generation_throughput_toks_per_s)", "vllm/vllm-openai:v0.9.2", True),
        ("sum(vllm:avg_generation_throughput_toks_per_s)", None, False),
        ("sum(vllm:num_requests_swapped)", "vllm/vllm-openai:v0.11.0", False),
        ("sum(vllm:num_request_waiting)", None, False),
        ("sum(rate(vllm:request_success_total[1m]))", None, True),
        ("sum(rate(vllm:time_to_first_token_seconds_bucket[1m]))", None, True),
    ],
)
def test_a_trigger_reads_what_the_image_exports(query: str, image: str | None, passes: bool) -> None:
    found = scaled(trigger(query=query), trigger(), image=image)
    assert (found == []) is passes


def test_an_image_without_a_tag_is_said_to_be_taken_for_the_newest() -> None:
    image = f"corp/vllm-openai@sha256:{'0' * 64}"
    (message,) = scaled(trigger(query="sum(vllm:gpu_cache_usage_perc)"), trigger(), image=image)
    assert "no tag tells its version: taken for vLLM 0.33" in message


def test_a_label_that_the_engine_does_not_have_is_refused() -> None:
    assert "label model_name" in scaled(trigger(query='sum(vllm:num_requests_waiting{model="m"})'))[0]


ENGINE_ONLY = "sum(vllm:num_requests_waiting)"


@pytest.mark.parametrize(
    ("others", "passes"),
    [
        ([], False),
        ([{"type": "cpu", "metricType": "Utilization", "metadata": {"value": "80"}}], False),
        (
            [
                {
                    "type": "cron",
                    "metadata": {
                        "timezone": "UTC",
                        "start": "0 8 * * *",
                        "end": "0 18 * * *",
                        "desiredReplicas": "2",
                    },
                }
            ],
            True,
        ),
        ([{"type": "external-push", "metadata": {"scalerAddress": "interceptor:9090"}}], True),
        ([TRIGGER], True),
    ],
)
def test_a_floor_of_zero_needs_a_signal_that_is_alive_there(others: list[Props], passes: bool) -> None:
    found = scaled(trigger(query=ENGINE_ONLY), *others, minReplicaCount=0)
    assert (found == []) is passes


def test_an_absent_minimum_is_a_floor_of_zero() -> None:
    assert "alive at zero" in scaled(trigger(query=ENGINE_ONLY), minReplicaCount=None)[0]


def test_an_idle_count_of_zero_is_a_floor_of_zero() -> None:
    assert "alive at zero" in scaled(trigger(query=ENGINE_ONLY), minReplicaCount=2, idleReplicaCount=0)[0]


def test_a_floor_of_one_needs_no_such_signal() -> None:
    assert scaled(trigger(query=ENGINE_ONLY)) == []


def test_replicas_beside_an_autoscaler_are_refused() -> None:
    program: Program = {"model": deployment(replicas=2), "scaler": scaled_object()}
    (found,) = judged("scaling-works", program)
    assert found[0] == "model"
    assert "resets the fleet" in found[1]


def test_replicas_without_an_autoscaler_pass() -> None:
    assert judged("scaling-works", {"model": deployment(replicas=2)}) == [("", "not applicable")]


@pytest.mark.parametrize("path", ["spec.replicas", "spec"])
def test_replicas_under_ignore_changes_pass(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ignoring(**_kwargs: Any) -> Any:
        return options(ignored=[path])

    monkeypatch.setattr("tests.unit.policies.programs.options", ignoring)
    program: Program = {"model": deployment(replicas=2), "scaler": scaled_object()}
    assert messages("scaling-works", program) == []


def test_a_second_autoscaler_on_one_target_is_refused() -> None:
    hpa: tuple[str, Props] = (
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
        {
            "metadata": {"name": "cpu", "namespace": "serving"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "llama"},
                "maxReplicas": 3,
            },
        },
    )
    assert "scaled by 2 autoscalers" in messages("scaling-works", good() | {"hpa": hpa})[0]


@pytest.mark.parametrize("triggers", [[], UNKNOWN, [UNKNOWN], [{"type": "prometheus", "metadata": UNKNOWN}]])
def test_triggers_that_are_missing_or_unknown_are_reported(triggers: object) -> None:
    assert (
        messages("scaling-works", {"model": deployment(), "scaler": scaled_object(triggers=triggers)}) != []
    )


def test_an_unknown_query_is_reported_and_does_not_hide_the_next_trigger() -> None:
    found = scaled(trigger(query=UNKNOWN), trigger(query="a"))
    assert any("a query known in preview" in message for message in found)
    assert any("several series" in message for message in found)
