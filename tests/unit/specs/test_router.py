"""The router: alive at zero engines, patient, and gone without a cut (KD13, LB1)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest
from vllm_router.launch_router import parse_router_args

from specs import router, router_access
from specs.settings import Settings
from specs.stages import tiers
from tests.unit.specs.stack import LARGE, container, dig, only, option, settings


def body(found: Settings) -> dict[str, Any]:
    return router.deployment(found, only(found))


def template(found: Settings) -> Any:
    return dig(body(found), "spec", "template")


@pytest.mark.parametrize("change", [{}, LARGE])
def test_every_argument_is_one_the_real_launcher_takes(change: dict[str, Any]) -> None:
    found = settings(change)
    taken: Any = parse_router_args(router.router_args(found, only(found)))
    assert taken.selector == {"headroom-model": "llama3-8b", "app.kubernetes.io/component": "engine"}
    assert taken.service_discovery_namespace == "llm-serving"
    assert taken.service_discovery_port == 8000
    assert taken.policy == "cache_aware"


def test_metrics_can_be_scraped_from_outside_the_pod() -> None:
    args = container(template(settings()))["args"]
    for host in ("--host", "--prometheus-host"):
        assert ip_address(option(args, host)).is_unspecified
    assert option(args, "--prometheus-port") == "29000"


def test_retries_cover_the_cold_start_with_pauses_of_a_second() -> None:
    found = settings(LARGE)
    args = container(template(found))["args"]
    pause = (
        int(option(args, "--retry-max-backoff-ms"))
        / 1000
        * (1 - float(option(args, "--retry-jitter-factor")))
    )
    assert int(option(args, "--retry-max-backoff-ms")) <= 1000
    assert int(option(args, "--retry-max-retries")) * pause > tiers(found, only(found))[0].total


def test_a_slower_start_gets_more_retries() -> None:
    s3, hub = settings(LARGE), settings(LARGE, weights={"backend": "hub"})
    retries = [
        int(option(router.router_args(found, only(found)), "--retry-max-retries")) for found in (s3, hub)
    ]
    assert retries[0] < retries[1]


def test_an_engine_that_came_back_is_used_within_seconds() -> None:
    args = container(template(settings()))["args"]
    assert int(option(args, "--cb-timeout-duration-secs")) <= 10
    assert int(option(args, "--worker-startup-check-interval")) == 1


def test_new_replicas_get_work_before_the_others_are_full() -> None:
    args = container(template(settings({"maxNumSeqs": 32})))["args"]
    assert int(option(args, "--balance-abs-threshold")) == 4


def test_a_router_without_engines_stays_ready() -> None:
    """/readiness answers 503 at zero engines."""
    engine = container(template(settings()))
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert dig(engine, probe, "httpGet", "path") == "/liveness"


@pytest.mark.parametrize(("enabled", "least"), [(True, 25), (False, 5)])
def test_it_waits_until_nobody_sends_to_it_any_more(enabled: bool, least: int) -> None:
    """LB1."""
    found = settings({"ingress": {"enabled": enabled}})
    assert dig(container(template(found)), "lifecycle", "preStop", "sleep", "seconds") >= least


def test_the_grace_covers_held_and_running_requests() -> None:
    found = settings()
    model = only(found)
    wait = dig(container(template(found)), "lifecycle", "preStop", "sleep", "seconds")
    grace = dig(template(found), "spec", "terminationGracePeriodSeconds")
    assert grace > wait + tiers(found, model)[0].total + model.drain.shutdown_seconds + 10


def test_it_runs_on_the_nodes_that_stay() -> None:
    assert dig(template(settings()), "spec", "nodeSelector") == {"headroom.dev/role": "system"}
    existing = settings({}, cluster={"mode": "existing"}, weights={"backend": "hub"})
    assert "nodeSelector" not in dig(template(existing), "spec")


def test_a_rollout_never_takes_a_router_away_first() -> None:
    assert dig(body(settings()), "spec", "strategy", "rollingUpdate") == {"maxSurge": 1, "maxUnavailable": 0}
    assert dig(body(settings()), "spec", "replicas") == 2


def test_the_image_starts_no_entry_point_of_its_own() -> None:
    assert container(template(settings()))["command"] == ["vllm-router"]


def test_callers_find_the_routers_pods() -> None:
    found = settings()
    service = router.service(only(found))
    assert dig(service, "spec", "selector").items() <= dig(template(found), "metadata", "labels").items()
    name, port = dig(service, "metadata", "name"), dig(service, "spec", "ports", 0, "port")
    assert router.url(only(found)) == f"http://{name}.llm-serving.svc:{port}"


def test_no_service_of_the_namespace_injects_variables() -> None:
    assert dig(template(settings()), "spec", "enableServiceLinks") is False


def test_it_may_watch_the_pods_of_its_namespace_and_nothing_else() -> None:
    model = only(settings())
    role, binding = router_access.role(model), router_access.role_binding(model)
    assert role["kind"] == "Role"
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    assert dig(binding, "roleRef", "name") == dig(role, "metadata", "name")
    (subject,) = dig(binding, "subjects")
    account = dig(template(settings()), "spec", "serviceAccountName")
    assert subject == {"kind": "ServiceAccount", "name": account, "namespace": "llm-serving"}
    assert dig(router_access.account(model), "metadata", "name") == account
