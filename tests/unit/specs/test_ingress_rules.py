"""The balancer in front of a router (LB1, LB3)."""

from __future__ import annotations

import json
from typing import Any

from specs import router
from specs.ingress_rules import PREFIX, balancer_annotations, ingress
from tests.unit.specs.stack import LARGE, dig, only, settings

ARN = "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"


def noted(**change: Any) -> dict[str, str]:
    found = settings({"ingress": change})
    return {
        key.removeprefix(PREFIX): value for key, value in balancer_annotations(found, only(found)).items()
    }


def attributes(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split(","))


def test_silence_on_a_connection_may_last_as_long_as_stated() -> None:
    """LB3: the default is 60 s."""
    found = attributes(noted(idleTimeoutSeconds=450)["load-balancer-attributes"])
    assert found["idle_timeout.timeout_seconds"] == "450"


def test_a_leaving_router_keeps_its_requests_and_outlives_its_deregistration() -> None:
    """LB1."""
    for change in ({}, LARGE):
        found = settings(change)
        model = only(found)
        group = attributes(balancer_annotations(found, model)[PREFIX + "target-group-attributes"])
        delay = int(group["deregistration_delay.timeout_seconds"])
        assert router.drain_seconds(found, model) <= delay <= router.grace_seconds(found, model)


def test_requests_go_where_the_fewest_are() -> None:
    group = attributes(noted()["target-group-attributes"])
    assert group["load_balancing.algorithm.type"] == "least_outstanding_requests"


def test_the_balancer_talks_to_pods_and_asks_whether_they_live() -> None:
    found = noted()
    assert found["target-type"] == "ip"
    assert found["healthcheck-path"] == "/liveness"
    assert int(found["healthcheck-timeout-seconds"]) < int(found["healthcheck-interval-seconds"])


def test_it_is_internal_unless_told_otherwise() -> None:
    assert noted()["scheme"] == "internal"
    assert noted(scheme="internet-facing")["scheme"] == "internet-facing"


def test_a_certificate_brings_https_and_a_redirect() -> None:
    found = noted(certificateArn=ARN)
    assert json.loads(found["listen-ports"]) == [{"HTTP": 80}, {"HTTPS": 443}]
    assert found["ssl-redirect"] == "443"
    assert found["certificate-arn"] == ARN


def test_without_a_certificate_there_is_plain_http_alone() -> None:
    found = noted()
    assert json.loads(found["listen-ports"]) == [{"HTTP": 80}]
    assert not {"ssl-redirect", "certificate-arn", "ssl-policy"} & found.keys()


def test_all_paths_of_the_host_lead_to_the_router() -> None:
    found = settings({"ingress": {"host": "llama.example.com"}})
    (rule,) = dig(ingress(found, only(found)), "spec", "rules")
    (path,) = dig(rule, "http", "paths")
    service = router.service(only(found))
    assert rule["host"] == "llama.example.com"
    assert path["backend"]["service"]["name"] == dig(service, "metadata", "name")
    assert path["backend"]["service"]["port"]["name"] == dig(service, "spec", "ports", 0, "name")


def test_without_a_host_every_host_is_answered() -> None:
    found = settings()
    (rule,) = dig(ingress(found, only(found)), "spec", "rules")
    assert "host" not in rule
