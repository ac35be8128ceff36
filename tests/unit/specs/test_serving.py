"""Deployment, Service and disruption budget (VL7, PU4, PU5, DR5)."""

from __future__ import annotations

from typing import Any

import pytest

from specs import serving
from specs.patience import progress_seconds
from specs.scaling import scaled_object
from tests.unit.specs.stack import POOLS, dig, only, settings

NO_ROOM = [POOLS[0] | {"gpuLimit": 10}, POOLS[1]]


def deployment(*models: dict[str, Any], **sections: object) -> dict[str, Any]:
    found = settings(*models, **sections)
    return serving.deployment(found, found.models[0], "bucket")


def test_the_autoscaler_alone_owns_the_replicas() -> None:
    """PU4."""
    assert "replicas" not in deployment()["spec"]


def test_the_autoscaler_targets_this_deployment() -> None:
    found = settings()
    target = dig(scaled_object(found, only(found)), "spec", "scaleTargetRef")
    body = deployment()
    assert (body["apiVersion"], body["kind"], body["metadata"]["name"]) == tuple(target.values())


def test_a_rollout_adds_a_replica_where_there_is_room_for_one() -> None:
    """VL7."""
    assert dig(deployment(), "spec", "strategy", "rollingUpdate") == {"maxSurge": 1, "maxUnavailable": 0}


def test_a_rollout_at_the_gpu_limit_replaces_in_place() -> None:
    """VL7: a surge pod would wait for ever for a GPU."""
    body = deployment(gpuPools=NO_ROOM)
    assert dig(body, "spec", "strategy", "rollingUpdate") == {"maxSurge": 0, "maxUnavailable": 1}


def test_the_rollout_is_not_given_up_during_a_cold_start() -> None:
    found = settings()
    assert dig(deployment(), "spec", "progressDeadlineSeconds") == progress_seconds(found, only(found))


@pytest.mark.parametrize(("least", "skips"), [(0, True), (1, False)])
def test_only_what_may_be_at_zero_is_not_awaited(least: int, skips: bool) -> None:
    """PU5."""
    change = {"replicas": {"min": least, "max": 2}, "ingress": {"enabled": False}}
    model = only(settings(change))
    for body in (deployment(change), serving.engines_service(model)):
        notes = dig(body, "metadata").get("annotations", {})
        assert (notes.get("pulumi.com/skipAwait") == "true") is skips


def test_selectors_match_the_pods_they_mean() -> None:
    body, model = deployment(), only(settings())
    labels = dig(body, "spec", "template", "metadata", "labels").items()
    assert dig(body, "spec", "selector", "matchLabels").items() <= labels
    assert dig(serving.engines_service(model), "spec", "selector").items() <= labels
    budget = serving.disruption_budget(model, "engine")
    assert dig(budget, "spec", "selector", "matchLabels").items() <= labels


def test_two_models_never_select_each_others_pods() -> None:
    first, second = (
        deployment({"name": name, "servedName": name, "replicas": {"min": 1, "max": 2}})
        for name in ("a", "b")
    )
    wanted = dig(first, "spec", "selector", "matchLabels").items()
    assert not wanted <= dig(second, "spec", "template", "metadata", "labels").items()


@pytest.mark.parametrize("part", ["engine", "router"])
def test_a_budget_never_blocks_every_drain(part: Any) -> None:
    """DR5."""
    spec = serving.disruption_budget(only(settings()), part)["spec"]
    assert dig(spec, "maxUnavailable") == 1
    assert "minAvailable" not in dig(spec)
    assert dig(spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow"


def test_the_engines_service_has_no_address_of_its_own() -> None:
    assert dig(serving.engines_service(only(settings())), "spec", "clusterIP") == "None"


def test_engines_run_under_the_account_that_may_read_their_weights() -> None:
    found = settings()
    account = serving.engine_account(only(found))
    assert dig(account, "metadata", "name") == "llama3-8b"
    assert dig(deployment(), "spec", "template", "spec", "serviceAccountName") == "llama3-8b"
    assert account["automountServiceAccountToken"] is False
