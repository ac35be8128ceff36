"""No pod waits longer than its start takes; those that do say why."""

import math
from collections.abc import Iterator

from lab.doctor.checks.fleet import age, moment
from lab.doctor.differences import few
from lab.doctor.finding import Check, Finding
from lab.doctor.seen import Body, Seen, Unread, dig, told
from lab.scenario.kinds import is_ready
from specs.patience import cold_seconds
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import tiers

ROUTER_SECONDS = 120
"""A router's image and start, with patience; it needs no GPU node."""
RETRY_SECONDS = 30
WIDE = 200


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Pods without a node beyond the plan's seconds for one, and pods that do not get ready in a cold start's."""
    check = Check("pending", model.name)
    found: list[str] = []
    waiting = 0
    limits = {
        "engine": (_node_seconds(settings, model), cold_seconds(settings, model)),
        "router": (ROUTER_SECONDS, ROUTER_SECONDS),
    }
    for part, (node, ready) in limits.items():
        pods = seen.pods(model, part)
        if isinstance(pods, Unread):
            yield check.unknown(f"the pods could not be read: {pods.reason}")
            return
        late = [pod for pod in pods if not is_ready(pod)]
        waiting += len(late)
        for pod in late:
            placed = told(pod, "PodScheduled")[0] == "True" or bool(dig(pod, "spec", "nodeName"))
            limit = ready if placed else node
            if age(seen, pod) > limit:
                state = "not ready" if placed else "without a node"
                why = _why(seen, pod)
                found.append(
                    f"{pod['metadata']['name']} is {state} for {age(seen, pod):.0f} s, at most {limit}{why}"
                )
    yield check.holds(
        few(found, 2),
        f"{waiting} wait, none too long" if waiting else "none waits",
        f"kubectl -n {model.namespace} describe pods; docs/runbook.md#capacity-unavailable",
    )


def _node_seconds(settings: Settings, model: Model) -> int:
    """Twice the plan's seconds for a node, and a second try of Karpenter: at spot, the first type may be sold out."""
    return math.ceil(2 * tiers(settings, model)[0].node) + RETRY_SECONDS


def _why(seen: Seen, pod: Body) -> str:
    """The newest events of a pod, one of each reason."""
    found = seen.events.get(str(dig(pod, "metadata", "uid", default="")), ())
    if isinstance(found, Unread):
        return f" (its events could not be read: {found.reason})"
    newest = sorted(found, key=lambda one: moment(one.get("lastTimestamp") or one.get("eventTime")))
    by_reason = {str(one.get("reason")): str(one.get("message", "")) for one in newest}
    texts = [f"{reason}: {' '.join(message.split())[:WIDE]}" for reason, message in by_reason.items()]
    return f": {'; '.join(texts[-2:])}" if texts else ""
