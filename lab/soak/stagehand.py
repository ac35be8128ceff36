"""Carries out single actions on a stack that runs on a lab, and tells what each may cost."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from lab.control import report, single
from lab.fleet.component import control_url
from lab.load import Load
from lab.scenario.cloud import power_off, spot_notice
from lab.scenario.kinds import Body
from lab.scenario.model import Watched, claim_of
from lab.scenario.timeline import Timeline
from lab.soak import stack
from lab.soak.actions import Action
from lab.soak.losses import Toll
from lab.stage.stage import Stage
from specs.settings.stack import Settings

WELL_SECONDS: Final = 90.0
"""What a component that was killed may take to be well again on a busy machine."""
_LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of an action. ``note`` for people; ``problem`` is a fault of the lab or the program."""

    note: str = ""
    toll: Toll | None = None
    skipped: bool = False
    problem: str | None = None


@dataclass(kw_only=True)
class Stagehand:
    """Acts on one stage. ``loads`` are the bursts that it began. ``gives_up`` ends its waits."""

    stage: Stage
    timeline: Timeline
    settings: Settings
    """The stack's own, before the soak changed anything."""
    seed: int
    gives_up: Callable[[], bool]
    loads: list[Load] = field(default_factory=list[Load])
    versions: dict[str, int] = field(default_factory=dict[str, int])

    def perform(self, action: Action) -> Done:
        """Carries an action out once the lab is well. Raises what the lab and the engine raise."""
        if problem := self.unwell():
            return Done(problem=problem)
        match action.kind:
            case "burst":
                return self._burst(action)
            case "spot-notice" | "node-death":
                return self._node(action)
            case "engine-crash" | "router-crash":
                return self._crash(action)
            case "component-crash":
                there = single.kill(self.stage.plane.state_dir, action.target)
                return Done(skipped=not there, note="" if there else f"{action.target} did not run")
            case "rolling-update":
                self.versions[action.target] = self.versions.get(action.target, 0) + 1
                return self._up(changes=True)
            case "unchanged-update":
                return self._up(changes=False)

    def unwell(self) -> str | None:
        """Waits until every component is well; what is not, when that takes too long."""
        deadline = time.monotonic() + WELL_SECONDS
        while True:
            found = report.status(self.stage.plane.state_dir)
            if found.up or self.gives_up():
                return None
            if time.monotonic() > deadline:
                bad = [
                    f"{one.name} is {one.condition}" for one in found.components if one.condition != "well"
                ]
                return f"after {WELL_SECONDS:.0f} s {', '.join(bad)}; logs: {self.stage.plane.layout.root}"
            time.sleep(_LOOK_SECONDS)

    def watched(self, name: str) -> Watched:
        """A model on the timeline."""
        return Watched(
            self.timeline, next(one for one in self.stage.settings.active_models if one.name == name)
        )

    def _burst(self, action: Action) -> Done:
        model = self.watched(action.target).model
        number = self.seed * 1000 + len(self.loads) + 1
        load = stack.burst(self.stage, model, number, clients=action.clients, seconds=action.seconds)
        self.loads.append(load)
        load.start()
        return Done()

    def _node(self, action: Action) -> Done:
        ready = self.watched(action.target).engines(ready=True)
        pod = _picked(ready, action.pick)
        claim = claim_of(self.timeline, pod) if pod else None
        if pod is None or claim is None:
            return _nobody(action)
        node: str = pod["spec"]["nodeName"]
        if action.kind == "spot-notice":
            spot_notice(self.stage.plane, claim)
            return Done(note=node)
        begun = time.time()
        cut = power_off(self.stage.plane, claim)
        note = f"{node} died with {cut.requests} requests"
        return Done(note=note, toll=_toll(action, begun, note, requests=cut.requests))

    def _crash(self, action: Action) -> Done:
        role = action.kind.partition("-")[0]
        model = self.watched(action.target).model
        url = control_url(self.stage.plane.pods)
        pods: list[dict[str, Any]] = httpx2.get(f"{url}/pods", timeout=30, trust_env=False).json()
        prefix, space = f"{model.name}-", model.namespace
        mine = [one for one in pods if one["namespace"] == space and one["name"].startswith(prefix)]
        pod = _picked([one for one in mine if one["role"] == role and one["ready"]], action.pick)
        if pod is None:
            return _nobody(action)
        begun = time.time()
        answer = httpx2.post(f"{url}/pods/{space}/{pod['name']}/crash", timeout=30, trust_env=False)
        answer.raise_for_status()
        if role == "router":
            note = f"{pod['name']} at {pod['address']} crashed"
            return Done(note=note, toll=_toll(action, begun, note, router=pod["address"]))
        requests: int = answer.json()["load"]
        note = f"{pod['name']} crashed with {requests} requests"
        return Done(note=note, toll=_toll(action, begun, note, requests=requests))

    def _up(self, *, changes: bool) -> Done:
        outcome = self.stage.up(stack.overrides(self.settings, self.versions) if changes else None)
        counts = ", ".join(f"{count} {op}" for op, count in sorted(outcome.changes.items()))
        note = f"{counts} in {outcome.seconds:.0f} s"
        if not outcome.ok:
            return Done(note=note, problem="pulumi up failed: " + "; ".join(outcome.problems))
        if not changes and outcome.changed:
            steps = ", ".join(f"{step.op} {step.name}" for step in outcome.steps if step.op != "same")
            return Done(note=note, problem=f"pulumi up without a change changed something: {steps}")
        return Done(note=note)


def _picked(pods: list[Any], pick: float) -> Any | None:
    """The pod of a list, in the order of their names, that a number from 0 to below 1 chooses."""
    ordered = sorted(pods, key=_name)
    return ordered[int(pick * len(ordered))] if ordered else None


def _name(pod: Body) -> str:
    return pod["metadata"]["name"] if "metadata" in pod else pod["name"]


def _nobody(action: Action) -> Done:
    return Done(skipped=True, note=f"nothing of {action.target} serves")


def _toll(action: Action, begun: float, what: str, *, requests: int = 0, router: str | None = None) -> Toll:
    return Toll(action=action, begun=begun, ended=time.time(), what=what, requests=requests, router=router)
