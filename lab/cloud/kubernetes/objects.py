"""What an API server adds to an object that it has accepted."""

from typing import Any

from lab.cloud.asked import Asked
from lab.cloud.aws.kind import CREATED
from lab.cloud.wire import Properties


def added(asked: Asked, name: str) -> Properties:
    """Metadata and status as they are once the object is ready; the object's own values are not repeated."""
    metadata: Properties = {
        "uid": _uid(asked),
        "resourceVersion": str(1000 + asked.number(100000, "version")),
        "creationTimestamp": CREATED,
        "generation": 1,
        "name": name,
    }
    return {"metadata": metadata, "status": _status(asked, name)} | _spec(asked)


def _uid(asked: Asked) -> str:
    drawn = asked.hex(32, "uid")
    return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))


def _spec(asked: Asked) -> Properties:
    if asked.type != "kubernetes:core/v1:Service":
        return {}
    spec = asked.object("spec")
    address = spec.get("clusterIP") or f"172.20.{asked.number(250)}.{asked.number(250, 'ip') + 1}"
    return {"spec": {"type": "ClusterIP", **spec, "clusterIP": address, "clusterIPs": [address]}}


def _status(asked: Asked, name: str) -> Properties:
    spec = asked.object("spec")
    host = f"k8s-{name[:16]}-{asked.hex(10, 'lb')}.{asked.region}.elb.amazonaws.com"
    balancer: Properties = {"loadBalancer": {"ingress": [{"hostname": host}]}}
    match asked.type.rpartition(":")[2]:
        case "Namespace" | "PersistentVolume":
            return {"phase": "Active" if asked.type.endswith("Namespace") else "Bound"}
        case "PersistentVolumeClaim":
            return {"phase": "Bound"}
        case "Ingress":
            return balancer
        case "Service":
            return balancer if spec.get("type") == "LoadBalancer" else {"loadBalancer": {}}
        case "Deployment" | "StatefulSet":
            wanted = spec.get("replicas", 1)
            return {"replicas": wanted, "readyReplicas": wanted, "observedGeneration": 1}
        case _:
            return {}


def release(inputs: Properties) -> Properties:
    """The status of a Helm release that was deployed; what its chart contains is not known here."""
    chart: Any = inputs.get("chart")
    return {
        "status": {
            "chart": str(chart).rpartition("/")[2],
            "name": inputs.get("name"),
            "namespace": inputs.get("namespace"),
            "revision": 1,
            "status": "deployed",
            "version": inputs.get("version"),
        },
        "resourceNames": {},
    }
