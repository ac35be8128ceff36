"""Who may reach engines and routers."""

from __future__ import annotations

from typing import Any

from specs.network_policy import engine_policy, router_policy
from specs.settings import Settings
from tests.unit.specs.stack import dig, only, settings

MONITORING = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
ANYWHERE: dict[str, Any] = {"namespaceSelector": {}}
NO_INGRESS: dict[str, Any] = {"ingress": {"enabled": False}}


def sources(policy: dict[str, object], port: int) -> list[Any]:
    (rule,) = [rule for rule in dig(policy, "spec", "ingress") if rule["ports"][0]["port"] == port]
    return rule["from"]


def engine(found: Settings) -> list[Any]:
    return sources(engine_policy(found, only(found)), 8000)


def router(found: Settings, port: int) -> list[Any]:
    return sources(router_policy(found, only(found)), port)


def test_engines_answer_their_own_routers_and_prometheus_only() -> None:
    labels = {"headroom-model": "llama3-8b", "app.kubernetes.io/component": "router"}
    assert engine(settings()) == [{"podSelector": {"matchLabels": labels}}, MONITORING]


def test_a_prometheus_of_the_clusters_own_may_be_in_any_namespace() -> None:
    there = {"prometheus": {"install": False, "address": "http://prometheus.observability.svc:9090"}}
    assert ANYWHERE in engine(settings({}, platform=there))


def test_routers_answer_the_cluster_and_the_balancers_network() -> None:
    assert router(settings(), 8080) == [ANYWHERE, {"ipBlock": {"cidr": "10.0.0.0/16"}}]


def test_without_a_balancer_nothing_outside_the_cluster_is_answered() -> None:
    assert router(settings(NO_INGRESS), 8080) == [ANYWHERE]


def test_router_metrics_are_for_prometheus_alone() -> None:
    assert router(settings(), 29000) == [MONITORING]


def test_each_policy_selects_its_own_pods() -> None:
    found = settings()
    for policy, part in ((engine_policy, "engine"), (router_policy, "router")):
        selected = dig(policy(found, only(found)), "spec", "podSelector", "matchLabels")
        assert selected["app.kubernetes.io/component"] == part
