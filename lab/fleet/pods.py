"""Pods as the fleet sees them: the few fields that a kubelet acts on, read from the API server's mappings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["engine", "router", "idle"]
Body = Mapping[str, Any]

_API_SERVER = "vllm.entrypoints.openai.api_server"
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_DEFAULT_GRACE = 30.0


@dataclass(frozen=True, kw_only=True)
class Probe:
    """An HTTP probe; seconds and counts."""

    port: int
    path: str
    delay: float = 0.0
    period: float = 10.0
    timeout: float = 1.0
    failures: int = 3


@dataclass(frozen=True, kw_only=True)
class Container:
    """The container that the fleet simulates. None for a probe that is absent or not HTTP: it always succeeds."""

    name: str
    image: str
    role: Role
    words: tuple[str, ...]
    environment: Mapping[str, str]
    pre_stop: float
    startup: Probe | None
    readiness: Probe | None
    liveness: Probe | None


@dataclass(frozen=True, kw_only=True)
class Pod:
    """One pod; ``grace`` in seconds, the deletion's own once it is being deleted. ``names`` are all containers."""

    namespace: str
    name: str
    uid: str
    node: str
    address: str
    phase: str
    deleting: bool
    grace: float
    restarts: int
    ran: bool
    container: Container
    images: Mapping[str, str]


def own(body: Body, pattern: str) -> Pod | None:
    """The pod, if it is scheduled and one of its images is the lab's own."""
    spec, metadata, status = body["spec"], body["metadata"], _part(body, "status")
    main = next((one for one in spec["containers"] if re.search(pattern, one.get("image", ""))), None)
    if main is None or not spec.get("nodeName"):
        return None
    statuses: Sequence[Body] = _list(status, "containerStatuses")
    nothing: Body = {}
    mine = next((one for one in statuses if one["name"] == main["name"]), nothing)
    deleting = "deletionTimestamp" in metadata
    grace = spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE)
    if deleting:
        grace = metadata.get("deletionGracePeriodSeconds", grace)
    return Pod(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        node=spec["nodeName"],
        address=status.get("podIP", ""),
        phase=status.get("phase", "Pending"),
        deleting=deleting,
        grace=float(grace),
        restarts=int(mine.get("restartCount", 0)),
        ran="running" in _part(mine, "state") or "terminated" in _part(mine, "lastState"),
        container=_container(main),
        images={one["name"]: one.get("image", "") for one in spec["containers"]},
    )


def _part(body: Body, key: str) -> Body:
    return body.get(key) or {}


def _list(body: Body, key: str) -> Sequence[Any]:
    return body.get(key) or ()


def _container(body: Body) -> Container:
    command, args = _list(body, "command"), _list(body, "args")
    environment = {one["name"]: one["value"] for one in _list(body, "env") if one.get("value")}
    ports = {one["name"]: int(one["containerPort"]) for one in _list(body, "ports") if "name" in one}
    role = _role(command, body["image"])
    return Container(
        name=body["name"],
        image=body["image"],
        role=role,
        words=_words(command, args),
        environment=environment,
        pre_stop=_pre_stop(_part(_part(body, "lifecycle"), "preStop")),
        startup=_probe(body.get("startupProbe"), ports),
        readiness=_probe(body.get("readinessProbe"), ports),
        liveness=_probe(body.get("livenessProbe"), ports),
    )


def _role(command: Sequence[str], image: str) -> Role:
    if not command:
        return "router" if "router" in image else "engine"
    if command[0] == "vllm" or _API_SERVER in command:
        return "engine"
    return "router" if command[0] == "vllm-router" else "idle"


def _words(command: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
    """What follows the program's name."""
    if _API_SERVER in command:
        return (*command[command.index(_API_SERVER) + 1 :], *args)
    skipped = 2 if tuple(command[:2]) == ("vllm", "serve") else 1
    return (*command[skipped:], *args)


def _pre_stop(body: Body) -> float:
    if "sleep" in body:
        return float(body["sleep"]["seconds"])
    found = _SLEEP.search(" ".join(_list(_part(body, "exec"), "command")))
    return float(found[1]) if found else 0.0


def _probe(body: Body | None, ports: Mapping[str, int]) -> Probe | None:
    if body is None or "httpGet" not in body:
        return None
    wanted = body["httpGet"]["port"]
    return Probe(
        port=wanted if isinstance(wanted, int) else ports[wanted],
        path=body["httpGet"].get("path", "/"),
        delay=float(body.get("initialDelaySeconds", 0)),
        period=float(body.get("periodSeconds", 10)),
        timeout=float(body.get("timeoutSeconds", 1)),
        failures=int(body.get("failureThreshold", 3)),
    )
