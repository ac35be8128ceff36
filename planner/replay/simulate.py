"""One replay: settings and a trace in, figures out."""

from __future__ import annotations

import math
import time

from planner.replay.errors import ReplayError
from planner.replay.policy import POLICIES, Policy, policy
from planner.replay.result import ReplayResult
from planner.replay.stage import Conditions, Mode, Stage
from planner.traces import Trace
from specs.problems import Problem, shown
from specs.settings.model import Model
from specs.settings.stack import Settings

CALM = Conditions()
MOST_REQUESTS = 20_000_000
"""Replayed one by one; each takes about 200 bytes."""
MOST_COUNTED = 1e12
"""Replayed as a fluid."""


def run(
    settings: Settings,
    trace: Trace,
    model: str | None = None,
    scale: float = 1.0,
    seed: int = 0,
    mode: Mode | None = None,
    policy: str = "ours",
    conditions: Conditions = CALM,
) -> ReplayResult:
    """Replay `trace` at `scale` times its rate on one model of the stack (default: the first active one).

    `mode` defaults to request for request traces and to fluid otherwise. Equal arguments give equal figures,
    but for the CPU time. Raises ReplayError for what can't be replayed.
    """
    chosen = model_named(settings, model)
    refuse(chosen, scale, trace, mode or mode_of(trace), policy)
    began = time.process_time()
    stage = Stage(settings, chosen, trace, scale, seed, mode or mode_of(trace))
    if policy == "clairvoyant":
        return stage.clairvoyant(time.process_time() - began)
    return stage.replay(_policy(stage, policy), conditions, began)


def replay_policy(
    settings: Settings, trace: Trace, wanted: Policy, model: str | None = None, scale: float = 1.0, seed: int = 0,
    mode: Mode | None = None, conditions: Conditions = CALM,
) -> ReplayResult:  # fmt: skip
    """The same for a policy that is not in the list, such as the stack's own with other rules."""
    began = time.process_time()
    stage = Stage(settings, model_named(settings, model), trace, scale, seed, mode or mode_of(trace))
    return stage.replay(wanted, conditions, began)


def _policy(stage: Stage, name: str) -> Policy:
    return policy(stage.settings, stage.model, name, stage.peak)


def mode_of(trace: Trace) -> Mode:
    """The mode of a replay that names none."""
    return "request" if trace.times is not None else "fluid"


def bound_peak(settings: Settings, trace: Trace, model: Model, scale: float, seed: int) -> int:
    """The most replicas the trace ever needs."""
    return Stage(settings, model, trace, scale, seed, "fluid").peak


def model_named(settings: Settings, name: str | None) -> Model:
    """The active model of that name, or the first one. Raises ReplayError."""
    active = settings.active_models
    for model in active:
        if name is None or model.name == name:
            return model
    raise ReplayError(
        [
            Problem(
                "--model",
                shown(name),
                f"one of {', '.join(model.name for model in active)}" if active else "an enabled model",
                "name a model of the stack that is enabled",
            )
        ]
    )


def refuse(model: Model, scale: float, trace: Trace, mode: Mode = "fluid", policy: str = "ours") -> None:
    """Raise ReplayError with every reason why the trace can't be replayed on the model like this."""
    problems = [*_problems(model, scale), *_policy_problems(policy)]
    if not problems:
        problems = _too_many(trace, scale, mode)
    if problems:
        raise ReplayError(problems)


def _too_many(trace: Trace, scale: float, mode: Mode) -> list[Problem]:
    """Requests beyond what memory holds: each one request by request, or counts beyond exact arithmetic."""
    total = trace.mean_rate * trace.duration * scale
    each = mode == "request" or trace.times is not None
    most = MOST_REQUESTS if each else MOST_COUNTED
    if total <= most:
        return []
    fix = "lower --scale, or aggregate the trace to rates and use --mode fluid" if each else "lower --scale"
    return [Problem("--trace", f"{total:.3g} requests", f"at most {most:.3g}", fix)]


def _problems(model: Model, scale: float) -> list[Problem]:
    found: list[Problem] = []
    if not (math.isfinite(scale) and 0 < scale <= 1e6):
        found.append(Problem("--scale", shown(scale), "a number above 0, at most 1000000", "use --scale 1"))
    if model.capacity is None:
        found.append(
            Problem(
                f"models[{model.name}].capacity",
                "null",
                "the measured capacity of one replica",
                "measure it with `headroom calibrate`",
            )
        )
    return found


def _policy_problems(name: str) -> list[Problem]:
    if name in POLICIES:
        return []
    return [Problem("--policy", shown(name), f"one of {', '.join(POLICIES)}", "choose one of these")]
