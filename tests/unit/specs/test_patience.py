"""Deadlines follow the model: bigger loads get longer ones (VL2, PU6)."""

from specs.drain import grace_seconds
from specs.patience import (
    cold_seconds,
    delete_seconds,
    hold_seconds,
    load_seconds,
    progress_seconds,
    rollout_seconds,
    startup_probes,
)
from specs.stages import tiers
from tests.unit.specs.stack import LARGE, only, settings

BIGGER = {"weightsGiB": 17, "maxModelLen": 2048}


def test_a_bigger_model_gets_a_longer_startup_budget() -> None:
    small, bigger, large = settings(), settings(BIGGER), settings(LARGE)
    probes = [startup_probes(found, only(found)) for found in (small, bigger, large)]
    assert probes == sorted(set(probes))


def test_the_budget_is_three_times_the_estimate_and_ten_minutes() -> None:
    found = settings()
    assert 2 * startup_probes(found, only(found)) >= 600 + 3 * load_seconds(found, only(found))


def test_slower_weights_get_a_longer_budget() -> None:
    s3, hub = settings(LARGE), settings(LARGE, weights={"backend": "hub"})
    assert startup_probes(hub, only(hub)) > startup_probes(s3, only(s3))


def test_the_router_holds_requests_longer_than_the_cold_start() -> None:
    for change in ({}, LARGE, {"replicas": {"min": 0, "max": 2}, "ingress": {"idleTimeoutSeconds": 600}}):
        found = settings(change)
        model = only(found)
        assert hold_seconds(found, model) > tiers(found, model)[0].total + model.scaling.polling_seconds


def test_a_rollout_may_take_a_cold_start_and_a_drain_of_each_replica() -> None:
    found = settings()
    model = only(found)
    one = tiers(found, model)[0].start + grace_seconds(model, found.pool(model.pool))
    assert rollout_seconds(found, model) >= model.replicas.max * one
    assert progress_seconds(found, model) > cold_seconds(found, model) > tiers(found, model)[0].start


def test_a_removal_may_take_the_drain() -> None:
    found = settings(LARGE)
    model = only(found)
    assert delete_seconds(found, model) > grace_seconds(model, found.pool(model.pool))
