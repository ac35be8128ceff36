"""Nodes can be drained: one disruption budget a Deployment, which lets one pod go at a time."""

import math
from collections.abc import Iterator, Mapping, Sequence

from lab.doctor.checks.there import AGAIN, looked_up, spec_of
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import BUDGET
from lab.doctor.seen import Body, Seen, Unread, dig, names
from specs.labels import Part, selector
from specs.serving import disruption_budget
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """The engines' budget, and the routers' where there are two."""
    yield from _judge(Check("pdb:engine", model.name), seen, model, "engine", max(1, model.replicas.min))
    routers = settings.platform.router.replicas
    if routers > 1:
        yield from _judge(Check("pdb:router", model.name), seen, model, "router", routers)


def _judge(check: Check, seen: Seen, model: Model, part: Part, floor: int) -> Iterator[Finding]:
    wanted = disruption_budget(model, part)
    live = looked_up(check, seen, BUDGET, wanted)
    if isinstance(live, Finding):
        yield live
        return
    found: list[str] = []
    if dig(live, "spec", "selector", "matchLabels") != spec_of(wanted)["selector"]["matchLabels"]:
        found.append(f"it selects {dig(live, 'spec', 'selector')}, not the pods of the {part}")
    if blocked := _blocks(live["spec"], floor):
        found.append(f"{blocked}: with {floor} pods, the fewest there are, no node can ever be drained")
    every = seen.every(BUDGET, model.namespace)
    others = (
        [] if isinstance(every, Unread) else [one for one in every if _also(one, live, selector(model, part))]
    )
    if others:
        # The eviction API answers 500 to a pod of two budgets (kubernetes pkg/registry/core/pod/storage/eviction.go).
        found.append(
            f"PodDisruptionBudget {names(others)} selects the same pods: none of them can be evicted"
        )
    pods = seen.pods(model, part)
    expected = dig(live, "status", "expectedPods", default=0)
    if not isinstance(pods, Unread) and pods and not expected:
        found.append(f"it counts no pod, while {len(pods)} run")
    allowed = dig(live, "status", "disruptionsAllowed", default=0)
    healthy = dig(live, "status", "currentHealthy", default=0)
    mend = f"kubectl -n {model.namespace} delete pdb {names(others)}" if others else AGAIN
    yield check.holds(found, f"{allowed} may go now; {healthy} of {expected} pods healthy", mend)


def _blocks(spec: Mapping[str, object], floor: int) -> str:
    """What forbids every eviction among so many healthy pods; empty where one may go."""
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None and _share(most, floor) < 1:
        return f"maxUnavailable is {most}"
    if least is not None and _share(least, floor) >= floor:
        return f"minAvailable is {least}"
    return ""


def _share(value: object, of: int) -> int:
    """A count, or the percentage of `of`, rounded up as the disruption controller does."""
    text = str(value)
    return math.ceil(of * float(text[:-1]) / 100) if text.endswith("%") else int(text)


def _also(one: Body, own: Body, pod: Mapping[str, str]) -> bool:
    """Another budget whose plain selector matches the pods."""
    wanted: Mapping[str, str] = dig(one, "spec", "selector", "matchLabels", default={})
    expressions: Sequence[object] = dig(one, "spec", "selector", "matchExpressions", default=())
    other = one["metadata"]["name"] != own["metadata"]["name"]
    return other and not expressions and all(pod.get(key) == value for key, value in wanted.items())
