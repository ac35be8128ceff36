"""The objects that a rehearsal follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lab.control import kubernetes

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of object; ``plural`` as in the URL."""

    group: str
    version: str
    name: str
    plural: str
    namespaced: bool = True

    @property
    def resource(self) -> Any:
        """The class for lightkube."""
        return kubernetes.resource(
            self.group, self.version, self.name, self.plural, namespaced=self.namespaced
        )


DEPLOYMENT: Final = Kind("apps", "v1", "Deployment", "deployments")
POD: Final = Kind("", "v1", "Pod", "pods")
EVENT: Final = Kind("", "v1", "Event", "events")
HPA: Final = Kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
SCALED_OBJECT: Final = Kind("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects")
NODE_CLAIM: Final = Kind("karpenter.sh", "v1", "NodeClaim", "nodeclaims", namespaced=False)
NODE: Final = Kind("", "v1", "Node", "nodes", namespaced=False)

FOLLOWED: Final = (DEPLOYMENT, POD, EVENT, HPA, SCALED_OBJECT, NODE_CLAIM)


def condition(body: Body, name: str) -> str:
    """Status of a condition: True, False or Unknown; empty where there is none."""
    found = next((one for one in conditions(body) if one["type"] == name), None)
    return "" if found is None else str(found["status"])


def conditions(body: Body) -> list[Body]:
    """All conditions of an object."""
    status: Body = body.get("status") or {}
    return list(status.get("conditions") or ())


def is_ready(pod: Body) -> bool:
    """Ready, and not being deleted."""
    return condition(pod, "Ready") == "True" and not is_leaving(pod)


def is_leaving(body: Body) -> bool:
    """Deletion has been asked for."""
    return "deletionTimestamp" in body["metadata"]
