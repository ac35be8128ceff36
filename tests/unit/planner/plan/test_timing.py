"""Seconds per tier, at zero, in an outage and while leaving."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.plan.timing import timing
from specs.settings import Settings

Make = Callable[..., Settings]


def test_the_stages_of_each_tier_sum_to_its_total(make: Make) -> None:
    settings = make()
    for tier in timing(settings, settings.models[0]).tiers:
        stages = tier.detect + tier.node + tier.image + tier.weights + tier.engine
        assert tier.total == pytest.approx(max(0.0, stages - tier.hidden))


def test_detection_grows_with_half_a_scrape_and_half_a_sync(make: Make) -> None:
    """KD11, KD24: scrape and sync are terms of the sum."""
    slow = make(platform={"prometheus": {"scrapeSeconds": 25}})
    fast = make()
    apart = (
        timing(slow, slow.models[0]).tier("cold").detect - timing(fast, fast.models[0]).tier("cold").detect
    )
    assert apart == pytest.approx(10.0)


def test_weights_take_their_size_over_the_network_baseline_of_the_instance(make: Make) -> None:
    """g5.2xlarge: 15 GiB at 5 Gbit/s."""
    settings = make()
    assert timing(settings, settings.models[0]).tier("cold").weights == pytest.approx(
        15 * 2**30 * 8 / 5e9, rel=1e-6
    )


def test_a_cold_start_misses_sixty_seconds_and_meets_three_hundred(make: Make) -> None:
    short, long = make(), make(model={"slo": {"readySeconds": 300}})
    assert not timing(short, short.models[0]).meets_slo
    assert timing(long, long.models[0]).meets_slo


def test_a_stack_with_spares_is_in_the_warm_tier(make: Make) -> None:
    settings = make(model={"scaling": {"warmSpares": 1}, "replicas": {"min": 1, "max": 9}})
    assert timing(settings, settings.models[0]).current == "warm"


def test_a_floor_above_zero_never_reaches_zero(make: Make) -> None:
    settings = make()
    times = timing(settings, settings.models[0])
    assert (times.time_to_zero, times.first_caller) == (None, None)


def test_time_to_zero_is_the_rates_window_the_cooldown_and_a_poll(make: Make) -> None:
    """KD11: cooldown and polling act between one and zero."""
    settings = make(
        model={"replicas": {"min": 0, "max": 3}, "scaling": {"cooldownSeconds": 100, "pollingSeconds": 7}}
    )
    assert timing(settings, settings.models[0]).time_to_zero == 300 + 100 + 7


def test_the_first_caller_at_zero_waits_for_a_poll_and_a_cold_start(make: Make) -> None:
    """KD13: what the caller sees and for how long."""
    settings = make(model={"replicas": {"min": 0, "max": 3}})
    times = timing(settings, settings.models[0])
    assert times.first_caller is not None
    assert times.first_caller.seconds == pytest.approx(times.tier("cold").start + 1.5 * 5 + 5 / 2 + 1.5)
    assert times.first_caller.served


def test_the_first_caller_fails_where_the_balancer_gives_up_first(make: Make) -> None:
    settings = make(model={"replicas": {"min": 0, "max": 3}, "ingress": {"idleTimeoutSeconds": 60}})
    first = timing(settings, settings.models[0]).first_caller
    assert first is not None
    assert first.as_json()["outcome"] == "error"


def test_an_outage_of_metrics_freezes_for_four_syncs_and_keeps_the_floor(make: Make) -> None:
    """KD7: failures must exceed three; the fallback never lowers what runs."""
    settings = make(model={"replicas": {"min": 2, "max": 10}})
    outage = timing(settings, settings.models[0]).outage.as_json()
    assert outage["frozenSeconds"] == 60
    assert outage["fallbackReplicas"] == 2
    assert outage["scalesDown"] is False


@pytest.mark.parametrize(("least", "wakes"), [(0, True), (1, False)])
def test_a_model_at_zero_wakes_while_its_metrics_are_out(make: Make, least: int, wakes: bool) -> None:
    """KEDA 2.21 takes an active fallback for activity."""
    settings = make(model={"replicas": {"min": least, "max": 3}})
    assert timing(settings, settings.models[0]).outage.as_json()["wakesFromZero"] is wakes


def test_a_drain_shorter_than_the_longest_request_is_told_with_the_tokens_that_fit(make: Make) -> None:
    """VL6: 8192 tokens at 0.03 s against 60 s."""
    settings = make()
    drain = timing(settings, settings.models[0]).leaving.as_json()
    assert drain["longestRequestFits"] is False
    assert drain["tokensThatFit"] == 2000


def test_a_drain_as_long_as_the_longest_request_fits_it(make: Make) -> None:
    settings = make(model={"drain": {"shutdownSeconds": 246}})
    assert timing(settings, settings.models[0]).leaving.as_json()["longestRequestFits"] is True


def test_a_rollout_without_room_for_a_surge_at_floor_one_is_not_without_downtime(make: Make) -> None:
    """VL7: the pool is full at replicas.max."""
    full, roomy = make(), make(model={"replicas": {"min": 1, "max": 9}})
    assert not timing(full, full.models[0]).leaving.zero_downtime
    assert timing(roomy, roomy.models[0]).leaving.zero_downtime
