"""What a cloud writes about Services and Ingresses, and Pulumi waits for; the pods' loopback addresses forbid it here.

An API server refuses endpoints on loopback (Kubernetes v1.35 pkg/apis/core/validation, ValidateEndpointIP), so a
Service of running pods never gets an Endpoints object; an empty one says that the Service is known. The load balancer
controller, a Helm release that is recorded, would give an Ingress its balancer's name.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from lightkube import ApiError, Client
from lightkube.types import PatchType

from lab.control import kubernetes

SERVICE = kubernetes.resource("", "v1", "Service", "services")
ENDPOINTS = kubernetes.resource("", "v1", "Endpoints", "endpoints")
INGRESS = kubernetes.resource("networking.k8s.io", "v1", "Ingress", "ingresses")
BALANCED = "alb"
"""The class of the Ingresses that the controller serves."""
DOMAIN = "elb.lab.invalid"

Body = Mapping[str, Any]


def look(to: Client) -> list[str]:
    """One round over all namespaces; what it wrote, a line each. Raises ApiError or an HTTP error."""
    said: list[str] = []
    known = {_key(one) for one in _all(to, ENDPOINTS)}
    for service in waiting_services(_all(to, SERVICE), known):
        namespace, name = _key(service)
        if _create(to, {"metadata": {"name": name, "namespace": namespace}}):
            said.append(f"Service {namespace}/{name} has endpoints")
    for ingress in waiting_ingresses(_all(to, INGRESS)):
        namespace, name = _key(ingress)
        host = f"{namespace}-{name}.{DOMAIN}"
        status = {"status": {"loadBalancer": {"ingress": [{"hostname": host}]}}}
        to.patch(INGRESS.Status, name, status, namespace=namespace, patch_type=PatchType.MERGE)
        said.append(f"Ingress {namespace}/{name} has the balancer {host}")
    return said


def waiting_services(services: Iterable[Body], known: set[tuple[str, str]]) -> list[Body]:
    """Services with a selector and an address of their own that have no Endpoints object among `known`."""
    return [
        one
        for one in services
        if one["spec"].get("selector") and one["spec"].get("clusterIP") != "None" and _key(one) not in known
    ]


def waiting_ingresses(ingresses: Iterable[Body]) -> list[Body]:
    """Ingresses of the balancer's class that have no balancer yet."""
    return [
        one
        for one in ingresses
        if one["spec"].get("ingressClassName") == BALANCED
        and not (one.get("status") or {}).get("loadBalancer", {}).get("ingress")
        and "deletionTimestamp" not in one["metadata"]
    ]


def _key(one: Body) -> tuple[str, str]:
    return one["metadata"]["namespace"], one["metadata"]["name"]


def _all(to: Client, kind: Any) -> list[Body]:
    listed: Any = to.list(kind, namespace="*")
    return list(listed)


def _create(to: Client, body: dict[str, Any]) -> bool:
    """Whether the object is new. The endpoints controller may have come first, or the namespace may be ending."""
    try:
        to.create(ENDPOINTS(body))
    except ApiError as error:
        if error.status.code in (403, 404, 409):
            return False
        raise
    return True
