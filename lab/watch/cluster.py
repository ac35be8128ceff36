"""Reads what the API server has: replicas, pods, and the nodes that Karpenter bought."""

import ssl
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2
from lightkube import ApiError, Client

from lab.control import kubernetes
from lab.watch.figures import NodeSample, NodeState
from lab.watch.prometheus import SourceError, reason
from specs.catalogue import catalogue
from specs.labels import MODEL_KEY, PART_KEY
from specs.prices import hourly

Body = Mapping[str, Any]
DEPLOYMENT = kubernetes.resource("apps", "v1", "Deployment", "deployments")
AUTOSCALER = kubernetes.resource("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
POD = kubernetes.resource("", "v1", "Pod", "pods")
CLAIM = kubernetes.resource("karpenter.sh", "v1", "NodeClaim", "nodeclaims", namespaced=False)
POOL = "karpenter.sh/nodepool"
OFF_AT_ZERO = "ScalingDisabled"
"""Kubernetes' reason while the replicas are 0: KEDA alone acts then (kubernetes 1.35 horizontal.go)."""


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """What the API server knows of one model."""

    desired: int | None = None
    ready: int = 0
    pending: int = 0
    leaving: int = 0
    trouble: str | None = None


def listed(client: Client, kind: Any, namespace: str | None = None, **labels: str | None) -> list[Body]:
    """The objects of a kind that bear the labels; None asks for any value. Raises SourceError."""
    try:
        if namespace is None:
            return list(client.list(kind))
        asked: Any = labels or None
        return list(client.list(kind, namespace=namespace, labels=asked))
    except ApiError as error:
        raise SourceError(_reason(error)) from error
    except (httpx2.HTTPError, ssl.SSLError, OSError, ValueError) as error:
        raise SourceError(reason(error)) from error


def claims(client: Client) -> list[Body] | None:
    """Every NodeClaim; None where Karpenter is not installed. Raises SourceError."""
    try:
        return listed(client, CLAIM)
    except SourceError as error:
        cause = error.__cause__
        if isinstance(cause, ApiError) and cause.status.code == 404:
            return None
        raise


def _reason(error: ApiError) -> str:
    code = error.status.code
    return {401: "who you are is not known there", 403: f"not permitted: {error.status.message}"}.get(
        code or 0, error.status.message or f"HTTP {code}"
    )


def replicas(
    name: str, deployments: Iterable[Body], autoscalers: Iterable[Body], pods: Iterable[Body]
) -> Replicas:
    """The figures of the model whose objects bear this name, from the lists of its namespace."""
    deployment = next((one for one in deployments if one["metadata"]["name"] == name), None)
    autoscaler = next((one for one in autoscalers if one["metadata"]["name"] == name), None)
    own = [
        pod for pod in pods if _labels(pod).get(MODEL_KEY) == name and _labels(pod).get(PART_KEY) == "engine"
    ]
    staying = [pod for pod in own if "deletionTimestamp" not in pod["metadata"]]
    return Replicas(
        desired=None if deployment is None else int(_part(deployment, "spec").get("replicas", 1)),
        ready=sum(_is(pod, "Ready") for pod in staying),
        pending=sum(_part(pod, "status").get("phase") == "Pending" for pod in staying),
        leaving=len(own) - len(staying),
        trouble=_trouble(autoscaler),
    )


def nodes(found: Iterable[Body], pool: str) -> list[NodeSample]:
    """The nodes of a pool, oldest first, from the moment that Karpenter asks for them."""
    own = [one for one in found if _labels(one).get(POOL) == pool]
    own.sort(key=lambda one: (one["metadata"].get("creationTimestamp", ""), one["metadata"]["name"]))
    return [_node(one) for one in own]


def _node(claim: Body) -> NodeSample:
    labels = _labels(claim)
    instance, capacity = (
        labels.get("node.kubernetes.io/instance-type", ""),
        labels.get("karpenter.sh/capacity-type", ""),
    )
    state = _state(claim)
    paid = None if state == "asked" else instance
    known = next((one for one in catalogue().types if one.type == paid), None)
    return NodeSample(
        name=claim["metadata"]["name"],
        state=state,
        created=_moment(claim["metadata"].get("creationTimestamp")),
        instance_type=instance,
        capacity_type=capacity,
        zone=labels.get("topology.kubernetes.io/zone", ""),
        gpus=known.gpus if known else 0,
        # A reservation is paid for whether used or not: as on-demand, as the plan has it.
        usd_per_hour=round(hourly(known, capacity), 6) if known else None,
    )


def _moment(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()


def _state(claim: Body) -> NodeState:
    if not _is(claim, "Launched"):
        return "asked"
    if "deletionTimestamp" in claim["metadata"]:
        return "leaving"
    if not _is(claim, "Registered"):
        return "launching"
    return "ready" if _is(claim, "Initialized") else "joined"


def _trouble(autoscaler: Body | None) -> str | None:
    if autoscaler is None:
        return None
    for kind in ("AbleToScale", "ScalingActive"):
        found = _condition(autoscaler, kind)
        if found and found.get("status") == "False" and found.get("reason") != OFF_AT_ZERO:
            return str(found.get("reason") or kind)
    return None


def _part(body: Body, name: str) -> Body:
    found: Body | None = body.get(name)
    return found or {}


def _labels(body: Body) -> Mapping[str, str]:
    return body["metadata"].get("labels") or {}


def _condition(body: Body, kind: str) -> Body | None:
    conditions: Sequence[Body] = _part(body, "status").get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind), None)


def _is(body: Body, kind: str) -> bool:
    found = _condition(body, kind)
    return found is not None and found.get("status") == "True"
