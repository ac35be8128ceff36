"""Which Services and Ingresses the lab answers for, so that Pulumi need not wait for what can't come."""

from typing import Any

from lab.control.addresses import waiting_ingresses, waiting_services
from lab.control.bootstrap import system_node
from specs.labels import SYSTEM_LABEL

NONE: set[tuple[str, str]] = set()


def _service(**spec: Any) -> dict[str, Any]:
    body = {"selector": {"app": "x"}, "clusterIP": "10.96.0.7", **spec}
    return {"metadata": {"name": "router", "namespace": "llm-serving"}, "spec": body}


def _ingress(kind: str = "alb", **status: Any) -> dict[str, Any]:
    meta = {"name": "llama3-8b", "namespace": "llm-serving"}
    return {"metadata": meta, "spec": {"ingressClassName": kind}, "status": status}


def test_a_service_of_pods_without_endpoints_is_answered_for() -> None:
    assert waiting_services([_service()], NONE) == [_service()]


def test_a_service_that_pulumi_does_not_wait_for_is_left_alone() -> None:
    assert waiting_services([_service(clusterIP="None"), _service(selector=None)], NONE) == []


def test_a_service_with_endpoints_is_left_alone() -> None:
    assert waiting_services([_service()], {("llm-serving", "router")}) == []


def test_an_ingress_of_the_balancers_class_gets_a_balancer_once() -> None:
    served = _ingress(loadBalancer={"ingress": [{"hostname": "there.already"}]})
    assert waiting_ingresses([_ingress(), served, _ingress("nginx")]) == [_ingress()]


def test_an_ingress_that_is_going_gets_none() -> None:
    going = _ingress()
    going["metadata"]["deletionTimestamp"] = "2026-12-01T00:00:00Z"
    assert waiting_ingresses([going]) == []


def test_a_system_node_takes_what_the_program_pins_to_system_nodes() -> None:
    labels = system_node(0, "us-east-1", "us-east-1a")["metadata"]["labels"]
    assert labels.items() >= SYSTEM_LABEL.items()
