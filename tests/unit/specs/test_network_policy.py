"""Who may reach engines and routers, and where these may go."""

from __future__ import annotations

import ipaddress
from typing import Any, cast

import pytest

from specs.network import subnets
from specs.network_policy import engine_policy, image_policy, router_policy
from specs.settings import Settings
from tests.unit.specs.stack import dig, only, settings

PROMETHEUS = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}},
    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
}
ANYWHERE: dict[str, Any] = {"namespaceSelector": {}}
NO_INGRESS: dict[str, Any] = {"ingress": {"enabled": False}}


def sources(policy: dict[str, object], port: int) -> list[Any]:
    (rule,) = [rule for rule in dig(policy, "spec", "ingress") if rule["ports"][0]["port"] == port]
    return rule["from"]


def engine(found: Settings) -> list[Any]:
    return sources(engine_policy(found, only(found)), 8000)


def router(found: Settings, port: int) -> list[Any]:
    return sources(router_policy(found, only(found)), port)


def ways_out(found: Settings) -> dict[tuple[str, int], list[Any]]:
    """Where an engine may go, by protocol and port."""
    rules = dig(engine_policy(found, only(found)), "spec", "egress")
    return {
        (port["protocol"], port["port"]): rule["to"]
        for rule in cast(list[dict[str, Any]], rules)
        for port in rule["ports"]
    }


def test_engines_answer_their_own_routers_and_prometheus_only() -> None:
    labels = {"headroom-model": "llama3-8b", "app.kubernetes.io/component": "router"}
    assert engine(settings()) == [{"podSelector": {"matchLabels": labels}}, PROMETHEUS]


def test_a_prometheus_of_the_clusters_own_may_be_in_any_namespace() -> None:
    there = {"prometheus": {"install": False, "address": "http://prometheus.observability.svc:9090"}}
    assert ANYWHERE in engine(settings({}, platform=there))


@pytest.mark.parametrize(("scheme", "kind"), [("internal", "private"), ("internet-facing", "public")])
def test_routers_answer_the_cluster_and_the_subnets_of_their_balancer(scheme: str, kind: str) -> None:
    found = settings({"ingress": {"scheme": scheme}})
    layout = subnets(found.network.cidr, found.zones)
    blocks = [{"ipBlock": {"cidr": getattr(entry, kind)}} for entry in layout]
    assert router(found, 8080) == [ANYWHERE, *blocks]


def test_without_a_balancer_nothing_outside_the_cluster_is_answered() -> None:
    assert router(settings(NO_INGRESS), 8080) == [ANYWHERE]


def test_router_metrics_are_for_prometheus_alone() -> None:
    assert router(settings(), 29000) == [PROMETHEUS]


def test_each_policy_selects_its_own_pods() -> None:
    found = settings({"scaling": {"warmSpares": 1}})
    model = only(found)
    policies = {
        "engine": engine_policy(found, model),
        "router": router_policy(found, model),
        "image-puller": image_policy(model),
    }
    for part, policy in policies.items():
        selected = dig(policy, "spec", "podSelector", "matchLabels")
        assert selected == {"headroom-model": "llama3-8b", "app.kubernetes.io/component": part}


def test_an_engine_streams_from_s3_with_the_agents_credentials_and_reaches_nothing_in_the_vpc() -> None:
    found = ways_out(settings())
    assert set(found) == {("UDP", 53), ("TCP", 53), ("TCP", 80), ("TCP", 443)}
    [resolver] = found["UDP", 53]
    assert dig(resolver, "podSelector", "matchLabels") == {"k8s-app": "kube-dns"}
    assert found["TCP", 80] == [{"ipBlock": {"cidr": "169.254.170.23/32"}}]
    [world] = found["TCP", 443]
    kept_out = [ipaddress.ip_network(cidr) for cidr in world["ipBlock"]["except"]]
    for address in ("10.0.1.2", "169.254.169.254"):
        assert any(ipaddress.ip_address(address) in cidr for cidr in kept_out)


@pytest.mark.parametrize(
    ("backend", "https", "credentials"),
    [("hub", True, False), ("efs", False, False), ("image", False, False)],
)
def test_an_engine_goes_only_where_its_weights_are(backend: str, https: bool, credentials: bool) -> None:
    found = ways_out(settings({}, weights={"backend": backend}))
    assert (("TCP", 443) in found, ("TCP", 80) in found) == (https, credentials)


def test_on_an_existing_cluster_only_what_comes_in_is_judged() -> None:
    """Its resolver and its network are not known: a rule made of guesses would cut the engines off."""
    found = settings({}, cluster={"mode": "existing"}, weights={"backend": "hub"})
    spec = dig(engine_policy(found, only(found)), "spec")
    assert spec["policyTypes"] == ["Ingress"]
    assert "egress" not in spec


def test_the_image_holder_neither_listens_nor_speaks() -> None:
    policy = image_policy(only(settings({"scaling": {"warmSpares": 1}})))
    assert dig(policy, "spec", "policyTypes") == ["Ingress", "Egress"]
    assert dig(policy, "spec", "ingress") == dig(policy, "spec", "egress") == []
    assert image_policy(only(settings())) is None
