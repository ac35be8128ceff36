"""What was read of a cluster and its Prometheus: data, in which a read that failed stands as its reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lab.scenario.kinds import POD, Kind, conditions, is_leaving
from planner.preflight.check import Check
from specs.labels import MODEL_KEY, PART_KEY
from specs.settings.model import Model

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Unread:
    """A read that gave nothing. ``absent``: the server does not know the kind or path; ``refused``: it answers that
    the question is wrong or can't be answered; ``denied``: who asks may not see it; ``away``: no answer."""

    reason: str
    why: Literal["away", "absent", "refused", "denied"] = "away"


@dataclass(frozen=True)
class Element:
    """One element of an instant vector."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, order=True)
class Selector:
    """A series selector that a trigger reads; ``text`` is PromQL without an offset."""

    text: str
    name: str
    labels: tuple[tuple[str, str], ...] = ()
    """The matchers that are equalities."""


@dataclass(frozen=True)
class Signal:
    """The newest sample that a selector finds: its age in seconds, None where there is none. ``others`` are the
    labels under which the metric exists instead."""

    age: float | None
    others: tuple[str, ...] = ()


Presence = Literal["now", "lately", "never"]
"""Whether a series is there, was there within the hour, or neither."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Everything that the checks judge. ``at`` is this machine's clock, ``now`` that of Prometheus."""

    at: float
    lab: bool = False
    processes: Mapping[str, str] = field(default_factory=dict[str, str])
    """A lab's components and how they are: there the controllers are processes and not pods."""
    objects: Mapping[tuple[str, str], Sequence[Body] | Unread] = field(default_factory=dict[Any, Any])
    """By kind and namespace; the namespace is empty for what has none."""
    events: Mapping[str, Sequence[Body] | Unread] = field(default_factory=dict[Any, Any])
    """By the uid of a pod that waits."""
    external: Mapping[tuple[str, str, str], float | Unread] = field(default_factory=dict[Any, Any])
    """What external.metrics.k8s.io gives the HPA, by namespace, ScaledObject and metric."""
    prometheus: str = ""
    """The address that was asked."""
    now: float | Unread = Unread("not asked")
    answers: Mapping[tuple[str, str], Sequence[Element] | Unread] = field(default_factory=dict[Any, Any])
    """By model and trigger."""
    signals: Mapping[str, Mapping[Selector, Signal] | Unread] = field(default_factory=dict[Any, Any])
    """By model."""
    targets: Sequence[Body] | Unread = Unread("not asked")
    groups: Sequence[Body] | Unread = Unread("not asked")
    presence: Mapping[str, Presence | Unread] = field(default_factory=dict[Any, Any])
    """By metric."""
    quotas: Sequence[Check] | None = None
    """None where AWS was not asked."""

    def every(self, kind: Kind, namespace: str = "") -> Sequence[Body] | Unread:
        """The objects of a kind."""
        return self.objects.get((kind.name, namespace), Unread(f"{kind.plural} were not read"))

    def one(self, kind: Kind, name: str, namespace: str = "") -> Body | Unread | None:
        """The object of that name; None where there is none."""
        found = self.every(kind, namespace)
        if isinstance(found, Unread):
            return found
        return next((one for one in found if one["metadata"]["name"] == name), None)

    def pods(self, model: Model, part: str) -> list[Body] | Unread:
        """The pods of one part of a model that are not on their way out."""
        found = self.every(POD, model.namespace)
        if isinstance(found, Unread):
            return found
        wanted = (model.name, part)
        return [
            pod
            for pod in found
            if (labels(pod).get(MODEL_KEY), labels(pod).get(PART_KEY)) == wanted and not is_leaving(pod)
        ]


def dig(body: Any, *path: str, default: Any = None) -> Any:
    """The value at a path of mappings; the default where a step is missing or null."""
    for step in path:
        body = body.get(step) if isinstance(body, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if body is None:
            return default
    return body  # pyright: ignore[reportUnknownVariableType]


def labels(body: Body) -> Mapping[str, str]:
    """An object's labels."""
    return dig(body, "metadata", "labels", default={})


def told(body: Body, kind: str) -> tuple[str, str]:
    """A condition's status, empty where there is none, and its reason and message in words."""
    for one in conditions(body):
        if one.get("type") == kind:
            words = ": ".join(str(one[key]) for key in ("reason", "message") if one.get(key))
            return str(one.get("status", "")), words
    return "", ""


def names(bodies: Iterable[Body]) -> str:
    """Names of objects, a few of many."""
    found = sorted(str(one["metadata"]["name"]) for one in bodies)
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
