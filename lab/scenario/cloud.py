"""What EC2 does to nodes: spot notices and state changes by way of EventBridge and the queue, and power cuts."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import boto3
import httpx2

from lab.control import kubernetes
from lab.control.errors import LabError
from lab.control.plane import Plane
from lab.fleet.component import control_url
from lab.scenario.kinds import NODE, Body

ACCOUNT: Final = "123456789012"
"""The account that moto plays."""
_HEARTBEAT: Final = "kwok.x-k8s.io/node"


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A power cut: pods that died, and requests that were in their engines at that moment."""

    pods: int
    requests: int


def spot_notice(plane: Plane, claim: Body) -> None:
    """EC2 will take the instance in two minutes (EC2 User Guide, spot instance interruption notices)."""
    detail = {"instance-id": instance_of(claim), "instance-action": "terminate"}
    _send(plane, claim, "EC2 Spot Instance Interruption Warning", detail)


def rebalance(plane: Plane, claim: Body) -> None:
    """EC2 sees an elevated risk of interruption; no more than a recommendation."""
    _send(plane, claim, "EC2 Instance Rebalance Recommendation", {"instance-id": instance_of(claim)})


def power_off(plane: Plane, claim: Body) -> Cut:
    """The instance dies without notice: its pods with every connection, its kubelet; EC2 tells of it afterwards.

    The dead pods stay in the API server, as with a real kubelet that is gone, until Karpenter has given them up.
    """
    node = str(claim["status"]["nodeName"])
    answer = httpx2.post(f"{control_url(plane.pods)}/nodes/{node}/power-off", timeout=30, trust_env=False)
    answer.raise_for_status()
    with plane.client() as client:
        # kwok plays the kubelet of nodes with this annotation: without it the heartbeat ends.
        client.patch(NODE.resource, node, {"metadata": {"annotations": {_HEARTBEAT: None}}})
    detail = {"instance-id": instance_of(claim), "state": "terminated"}
    _send(plane, claim, "EC2 Instance State-change Notification", detail)
    told = answer.json()
    return Cut(pods=told["killed"], requests=told["requests"])


def delete_claim(plane: Plane, claim: Body) -> None:
    """An operator takes a node away: Karpenter drains it and ends it."""
    kind = kubernetes.resource("karpenter.sh", "v1", "NodeClaim", "nodeclaims", namespaced=False)
    with plane.client() as client:
        client.delete(kind, claim["metadata"]["name"])


def instance_of(claim: Body) -> str:
    """The id of the instance behind a NodeClaim, such as i-0123456789abcdef0. Raises LabError before its launch."""
    status: Body = claim.get("status") or {}
    provider: str = status.get("providerID", "")
    if not provider:
        raise LabError(f"NodeClaim {claim['metadata']['name']} has no instance yet; wait for its launch.")
    return provider.rpartition("/")[2]


def _send(plane: Plane, claim: Body, kind: str, detail: Mapping[str, str]) -> None:
    """An event as EventBridge writes it into the queue (Amazon EventBridge, EC2 events)."""
    aws, instance = plane.settings.aws, instance_of(claim)
    zone: str = claim["metadata"]["labels"].get("topology.kubernetes.io/zone", aws.zones[0])
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": kind,
        "source": "aws.ec2",
        "account": ACCOUNT,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": aws.region,
        "resources": [f"arn:aws:ec2:{zone}:instance/{instance}"],
        "detail": dict(detail),
    }
    # Its functions are overloaded by service in stubs that are not installed.
    session: Any = boto3.Session("lab", "lab", region_name=aws.region)
    queue = session.client("sqs", endpoint_url=plane.url("aws"))
    url = queue.get_queue_url(QueueName=aws.queue)["QueueUrl"]
    queue.send_message(QueueUrl=url, MessageBody=json.dumps(event))
