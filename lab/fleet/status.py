"""Pod status as a kubelet writes it: strategic merge patches of the status subresource."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from lab.fleet.pods import Pod

Phase = Literal["Pending", "Running", "Succeeded", "Failed"]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What there is to tell of a pod's containers; they share one state."""

    phase: Phase
    state: dict[str, Any]
    ready: bool = False
    started: bool = False
    restarts: int = 0
    last: dict[str, Any] | None = None


def now() -> str:
    """The time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def waiting(reason: str) -> dict[str, Any]:
    """The state of a container that does not run."""
    return {"waiting": {"reason": reason}}


def running(since: str) -> dict[str, Any]:
    """The state of one that runs."""
    return {"running": {"startedAt": since}}


def terminated(code: int, since: str, reason: str | None = None) -> dict[str, Any]:
    """The state of one that ended."""
    told = reason or ("Completed" if code == 0 else "Error")
    return {"terminated": {"exitCode": code, "reason": told, "startedAt": since, "finishedAt": now()}}


def patch(pod: Pod, told: Told) -> dict[str, Any]:
    """The body; refused by the API server when the name belongs to another pod by now."""
    ready = "True" if told.ready else "False"
    reason = {} if told.ready else {"reason": "ContainersNotReady"}
    moment = now()
    conditions: list[dict[str, Any]] = [
        {"type": kind, "status": ready, "lastTransitionTime": moment, **(reason or {"reason": None})}
        for kind in ("Ready", "ContainersReady")
    ]
    conditions.append({"type": "Initialized", "status": "True"})
    statuses = [
        {
            "name": name,
            "image": image,
            "imageID": "",
            "ready": told.ready,
            "started": told.started,
            "restartCount": told.restarts,
            "state": told.state,
            "lastState": told.last or {},
        }
        for name, image in pod.images.items()
    ]
    status: dict[str, Any] = {
        "phase": told.phase,
        "conditions": conditions,
        "containerStatuses": statuses,
    }
    return {"metadata": {"uid": pod.uid}, "status": status}
