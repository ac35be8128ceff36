"""The whole loop: what it costs, what it never does, and that both modes agree."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from planner.generator import generate
from planner.replay import POLICIES, Conditions, ReplayError, ReplayResult, recommended_floor, run
from planner.traces import Trace, of_counts, of_rates, of_requests
from specs.settings import Settings
from tests.unit.specs.stack import only, settings

KEYS = (
    "policy",
    "trace",
    "model",
    "durationSeconds",
    "requests",
    "nodeHours",
    "gpuHours",
    "usd",
    "violationSeconds",
    "violationShare",
    "boundNodeHours",
    "boundRatio",
    "peakReplicas",
    "reversalsPerHour",
    "cpuSeconds",
)
WAVE = generate("diurnal", 0.6, 5.0, seed=3)
STACK = settings()


def steps(*levels: float, seconds: int = 1800) -> Trace:
    """Constant stretches of half an hour each."""
    return of_rates("steps", np.repeat(np.array(levels), seconds // 60), 60)


def same(result: ReplayResult) -> dict[str, object]:
    """Everything but the CPU time."""
    return {key: value for key, value in result.as_json().items() if key != "cpuSeconds"}


def desired(result: ReplayResult) -> list[int]:
    assert result.timeline is not None
    return result.timeline.desired


@pytest.mark.parametrize("policy", POLICIES)
def test_each_policy_gives_the_keys_of_the_contract(policy: str) -> None:
    document = run(STACK, steps(1.0, 6.0, 1.0), policy=policy).as_json()
    assert tuple(document) == KEYS
    assert json.loads(json.dumps(document)) == document
    assert document["policy"] == policy


@pytest.mark.parametrize("mode", ["fluid", "request"])
def test_the_same_seed_gives_the_same_figures(mode: Any) -> None:
    first, again = (run(STACK, steps(1.0, 8.0), seed=4, mode=mode) for _ in range(2))
    assert same(first) == same(again)


def test_another_seed_gives_other_phases_and_arrivals() -> None:
    assert same(run(STACK, WAVE, seed=1)) != same(run(STACK, WAVE, seed=2))


def test_fluid_and_requests_agree_on_node_hours() -> None:
    trace = generate("diurnal", 0.12, 5.0, seed=1)
    fluid, request = (run(STACK, trace, mode=mode).node_seconds for mode in ("fluid", "request"))
    assert fluid == pytest.approx(request, rel=0.03)


def test_nothing_costs_less_than_the_bound_on_a_wave() -> None:
    for policy in POLICIES:
        assert run(STACK, WAVE, policy=policy).bound_ratio >= 1.0 - 1e-9


def test_ours_stays_near_the_bound_and_within_the_slo_on_a_wave() -> None:
    result = run(STACK, WAVE)
    assert result.bound_ratio < 1.4
    assert result.violation_share < 0.005


def test_ours_needs_less_and_waits_less_than_the_published_configuration() -> None:
    ours, published = run(STACK, WAVE), run(STACK, WAVE, policy="published")
    assert ours.node_seconds < 0.8 * published.node_seconds
    assert ours.violation_seconds < 0.1 * published.violation_seconds


@pytest.mark.parametrize("rate", [1.0, 3.0, 7.0])
def test_constant_load_hardly_changes_its_mind(rate: float) -> None:
    result = run(STACK, of_rates("constant", np.full(480, rate), 60))
    assert result.reversals / 8 <= 2


def test_a_forecast_that_is_wrong_costs_next_to_nothing() -> None:
    trace = generate("season-free", 1.2, 5.0, seed=5)
    without = run(settings({"scaling": {"forecast": {"enabled": False}}}), trace)
    assert run(STACK, trace).cost <= 1.02 * without.cost


def test_replicas_stay_within_their_range() -> None:
    found = settings({"replicas": {"min": 2, "max": 5}})
    result = run(found, steps(0.1, 50.0, 0.1))
    assert (min(desired(result)), max(desired(result))) == (2, 5)


def test_an_outage_of_the_metrics_never_lowers_the_replicas() -> None:
    trace = steps(8.0, 8.0, 0.2)
    blind = run(STACK, trace, conditions=Conditions(outages=((3500.0, 5400.0),)))
    assert blind.timeline is not None
    held = [
        count
        for moment, count in zip(blind.timeline.moments, blind.timeline.desired, strict=True)
        if 3500 <= moment < 5400
    ]
    assert held == sorted(held)
    assert desired(run(STACK, trace))[-1] < held[-1]


ZERO: dict[str, Any] = {"replicas": {"min": 0, "max": 4}}


@pytest.mark.parametrize("mode", ["fluid", "request"])
def test_a_model_sleeps_at_zero_and_the_first_requests_wait_for_it(mode: Any) -> None:
    quiet = np.zeros(3 * 3600, dtype=np.int64)
    quiet[5000] = 3
    result = run(settings(ZERO), of_counts("rare", quiet), mode=mode)
    counts = desired(result)
    assert counts[0] == 0
    assert max(counts) >= 1
    assert counts[-1] == 0
    assert result.violation_seconds > 0


def test_a_schedule_holds_its_floor() -> None:
    entry = {"timezone": "UTC", "start": "0 1 * * *", "end": "0 3 * * *", "replicas": 6}
    result = run(settings({"scaling": {"schedule": [entry]}}), of_rates("idle", np.full(300, 0.2), 60))
    assert result.timeline is not None
    inside = [
        count
        for moment, count in zip(result.timeline.moments, result.timeline.desired, strict=True)
        if 3700 <= moment < 3 * 3600
    ]
    assert set(inside) == {6}
    assert desired(result)[0] == desired(result)[-1] == 1


def test_reclaimed_spot_nodes_are_counted_and_replaced() -> None:
    calm, rough = (
        run(STACK, WAVE, conditions=Conditions(spot_reclaims_per_hour=rate)) for rate in (0.0, 0.1)
    )
    assert calm.reclaims == 0
    assert rough.reclaims > 3
    assert rough.launches > calm.launches


def test_a_drain_in_request_mode_cuts_nothing() -> None:
    assert run(STACK, steps(8.0, 1.0, 8.0, 1.0), mode="request").cut == 0


def test_a_warm_spare_shortens_the_start_and_costs_its_node() -> None:
    warm = run(settings({"scaling": {"warmSpares": 1}}), steps(1.0, 6.0))
    cold = run(STACK, steps(1.0, 6.0))
    assert warm.lead_seconds < cold.lead_seconds
    assert warm.node_seconds > cold.node_seconds


def test_a_burst_of_one_round_is_served_after_the_stages() -> None:
    """Mean over phases of the time to nine ready replicas, against detection plus stages."""
    trace = of_rates("burst", np.array([0.5] * 20 + [14.0] * 20), 60)
    times: list[float] = []
    for seed in range(12):
        result = run(STACK, trace, seed=seed)
        line = result.timeline
        assert line is not None
        times.append(next(m for m, ready in zip(line.moments, line.ready, strict=True) if ready >= 9) - 1200)
    sync = STACK.cluster.hpa_sync_seconds
    expected = 5 / 2 + sync / 2 + 1.5 + run(STACK, trace).lead_seconds
    # The timeline has one sample a sync: half a sync late on average.
    assert np.mean(times) <= 1.15 * expected + sync / 2


def test_a_request_trace_is_replayed_request_by_request() -> None:
    times = np.arange(0, 600, 0.5)
    sizes = np.full(len(times), 200, dtype=np.int64)
    result = run(STACK, of_requests("short", times, sizes, sizes))
    assert result.requests == len(times)
    assert result.violation_seconds == 0


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"model": "absent"}, "--model"),
        ({"policy": "best"}, "--policy"),
        ({"scale": 0.0}, "--scale"),
        ({"scale": float("nan")}, "--scale"),
    ],
)
def test_what_can_not_be_replayed_is_refused(arguments: dict[str, Any], path: str) -> None:
    with pytest.raises(ReplayError) as caught:
        run(STACK, WAVE, **arguments)
    assert [problem.path for problem in caught.value.problems] == [path]


def test_a_model_without_capacity_is_refused() -> None:
    found = settings({"capacity": None, "scaling": {"strategy": "concurrency"}})
    with pytest.raises(ReplayError, match="capacity"):
        run(found, WAVE)


@pytest.mark.parametrize("strategy", ["concurrency", "queue"])
def test_the_other_strategies_are_replayed_too(strategy: str) -> None:
    result = run(settings({"scaling": {"strategy": strategy}}), steps(1.0, 8.0, 1.0))
    assert result.peak_replicas > 1


def test_an_empty_stretch_is_no_fault() -> None:
    result = run(STACK, of_counts("empty", np.zeros(600, dtype=np.int64)))
    assert (result.requests, result.bound_ratio, result.violation_seconds) == (0, 0.0, 0.0)


def test_short_bursts_get_a_floor_with_its_price() -> None:
    burst = np.full(240, 1.0)
    burst[::20] = 9.0
    found: Settings = settings()
    floor = recommended_floor(found, of_rates("bursts", burst, 60))
    assert floor.without.violation_share > 0.005
    assert floor.result.cost <= floor.without.cost
    assert "replicas.min" in floor.advice
    assert "USD a month" in floor.advice
    assert only(found).replicas.min == 1


def test_steady_load_needs_no_other_floor() -> None:
    floor = recommended_floor(STACK, of_rates("steady", np.full(120, 3.0), 60))
    assert floor.replicas == 1
    assert floor.result is floor.without


def test_results_compare_by_their_figures() -> None:
    result = run(STACK, steps(1.0))
    assert replace(result, timeline=None) == result


@pytest.mark.parametrize(
    ("rate", "scale", "mode", "given"),
    [
        (1e300, 1.0, "fluid", "requests"),
        (1e6, 1e6, "fluid", "requests"),
        (1e5, 1.0, "fluid", "a peak of"),
        (1e4, 1.0, "request", "requests"),
    ],
)
def test_a_trace_beyond_any_fleet_is_refused_before_it_fills_the_memory(
    rate: float, scale: float, mode: Literal["fluid", "request"], given: str
) -> None:
    with pytest.raises(ReplayError) as caught:
        run(STACK, of_rates("huge", np.full(60, rate), 60), scale=scale, mode=mode)
    assert given in caught.value.problems[0].given


def test_sawtooth_load_does_not_launch_its_nodes_anew_at_each_peak() -> None:
    """DR9: pods stay for the down-window of 300 s and empty nodes for as long again; fifteen teeth of eight minutes
    launch each node twice at most.
    """
    teeth = np.tile(np.concatenate([np.linspace(1.0, 9.0, 4), np.full(4, 1.0)]), 15)
    result = run(STACK, of_rates("sawtooth", teeth, 60))
    line = result.timeline
    assert line is not None
    assert result.peak_replicas >= 6
    assert result.launches <= 2 * max(line.nodes)


def test_sawtooth_load_launches_nodes_anew_where_they_go_sooner() -> None:
    """The twin of the test above: empty nodes go after 30 s, which the settings' checks would refuse."""
    pools = tuple(
        pool.model_copy(update={"consolidation": pool.consolidation.model_copy(update={"after_seconds": 30})})
        for pool in STACK.gpu_pools
    )
    teeth = np.tile(np.concatenate([np.linspace(1.0, 9.0, 4), np.full(4, 1.0)]), 15)
    result = run(STACK.model_copy(update={"gpu_pools": pools}), of_rates("sawtooth", teeth, 60))
    assert result.timeline is not None
    assert result.launches > 2 * max(result.timeline.nodes)


def test_the_forecast_only_ever_raises_what_is_desired() -> None:
    """KD28: the HPA takes the largest proposal."""
    silent = settings({"scaling": {"forecast": {"enabled": False}}})
    pairs = zip(desired(run(STACK, WAVE)), desired(run(silent, WAVE)), strict=True)
    assert all(one >= other for one, other in pairs)
