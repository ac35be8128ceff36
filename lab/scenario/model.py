"""One model of a stack as the controllers see it: replicas wanted and ready, engines, nodes, events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lab.scenario.kinds import (
    DEPLOYMENT,
    EVENT,
    HPA,
    NODE_CLAIM,
    POD,
    Body,
    Kind,
    condition,
    is_leaving,
    is_ready,
)
from lab.scenario.timeline import Seen, Timeline
from specs.labels import MODEL_KEY, PART_KEY
from specs.settings.model import Model


@dataclass(frozen=True)
class Change:
    """A value from ``at`` (seconds of time.monotonic()) on."""

    at: float
    value: Any


@dataclass(frozen=True)
class Watched:
    """A model on a timeline."""

    timeline: Timeline
    model: Model

    @property
    def _key(self) -> tuple[str, str]:
        return self.model.namespace, self.model.name

    def engines(self, *, ready: bool = False) -> list[Body]:
        """Its engine pods that stay; with ``ready`` the ones that serve."""
        pods = [pod for pod in self.timeline.now(POD).values() if self.owns(pod) and not is_leaving(pod)]
        return [pod for pod in pods if is_ready(pod)] if ready else pods

    def owns(self, pod: Body) -> bool:
        """Whether a pod is one of its engines."""
        labels: Body = pod["metadata"].get("labels") or {}
        here = pod["metadata"].get("namespace") == self.model.namespace
        return here and labels.get(MODEL_KEY) == self.model.name and labels.get(PART_KEY) == "engine"

    def hpa(self) -> Body | None:
        """Its autoscaler, as it is."""
        return self.timeline.now(HPA).get(self._key)

    def wanted(self, since: float = 0.0) -> list[Change]:
        """The replicas that the HPA wanted, change by change."""
        return self._changes(HPA, _desired, since)

    def replicas(self, since: float = 0.0) -> list[Change]:
        """The replicas that its Deployment was told to have."""
        return self._changes(DEPLOYMENT, lambda body: body["spec"].get("replicas"), since)

    def ready(self, since: float = 0.0) -> list[Change]:
        """Engines that serve and stay, change by change."""
        serving: set[str] = set()
        found: list[Change] = []
        for seen in self.timeline.seen(POD):
            if not self.owns(seen.body):
                continue
            change = serving.discard if seen.gone or not is_ready(seen.body) else serving.add
            change(seen.uid)
            if not found or found[-1].value != len(serving):
                found.append(Change(seen.at, len(serving)))
        return _from(found, since)

    def pods(self, since: float = 0.0) -> list[Seen]:
        """Every state of its engines."""
        return [one for one in self.timeline.seen(POD, since=since) if self.owns(one.body)]

    def events(self, reason: str, since: float = 0.0) -> list[Seen]:
        """Events about its objects and pods with a reason such as SuccessfulRescale."""
        mine = self.model.name

        def about(body: Body) -> bool:
            name: str = body["involvedObject"].get("name", "")
            here = body["metadata"].get("namespace") == self.model.namespace
            return here and (name == mine or name.startswith(f"{mine}-")) and body.get("reason") == reason

        return [one for one in self.timeline.seen(EVENT, since=since) if about(one.body)]

    def _changes(self, kind: Kind, value: Callable[[Body], Any], since: float) -> list[Change]:
        found: list[Change] = []
        for seen in self.timeline.seen(kind):
            if seen.key == self._key and not seen.gone and value(seen.body) is not None:
                new = value(seen.body)
                if not found or found[-1].value != new:
                    found.append(Change(seen.at, new))
        return _from(found, since)


def _desired(hpa: Body) -> int | None:
    status: Body = hpa.get("status") or {}
    return status.get("desiredReplicas")


def pool_of(claim: Body) -> str | None:
    """The NodePool of a NodeClaim."""
    return claim["metadata"]["labels"].get("karpenter.sh/nodepool")


def claims(timeline: Timeline, pool: str) -> list[Body]:
    """NodeClaims of a pool that stay."""
    return [
        claim
        for claim in timeline.now(NODE_CLAIM).values()
        if pool_of(claim) == pool and not is_leaving(claim)
    ]


def claims_ever(timeline: Timeline, pool: str, since: float = 0.0) -> set[str]:
    """Names of all NodeClaims that a pool had since a moment."""
    return {one.key[1] for one in timeline.seen(NODE_CLAIM, since=since) if pool_of(one.body) == pool}


def claim_of(timeline: Timeline, pod: Body) -> Body | None:
    """The NodeClaim of a pod's node."""
    node = pod["spec"].get("nodeName")
    every = timeline.now(NODE_CLAIM).values()
    return next((one for one in every if (one.get("status") or {}).get("nodeName") == node), None)


def initialized(claim: Body) -> bool:
    """Whether the node serves pods."""
    return condition(claim, "Initialized") == "True"


def _from(changes: list[Change], since: float) -> list[Change]:
    """What held at a moment, and every change after it."""
    before = [one for one in changes if one.at <= since]
    return [*before[-1:], *(one for one in changes if one.at > since)]
