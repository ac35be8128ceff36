"""A whole calibration by load: settings and an endpoint in, a capacity out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from planner.calibrate.load import Generator, Load
from planner.calibrate.result import Calibration, CalibrationError, Step, refused
from planner.calibrate.search import Limits, search
from planner.engine import physical_model, request_size
from specs.problems import shown
from specs.settings.model import Model
from specs.settings.stack import Settings

OnStep = Callable[[Step], None]
BEGIN_SHARE: Final = 0.4
"""The search begins at this share of what data sheets promise, so that the first step does no harm."""
LONGEST_SECONDS: Final = 1800.0


def _nothing(step: Step) -> None:
    del step


def from_load(
    settings: Settings,
    model: Model,
    endpoint: str,
    *,
    prompt_tokens: float | None = None,
    output_tokens: float | None = None,
    step_seconds: float = 60.0,
    least_requests: int = 60,
    longest_seconds: float = LONGEST_SECONDS,
    limits: Limits | None = None,
    key: str | None = None,
    on_step: OnStep = _nothing,
) -> Calibration:
    """Search one replica's capacity at `slo.ttftSeconds` against an OpenAI `endpoint` that must be a single engine.

    Sizes default to the stated capacity's; a step lasts `step_seconds` and until `least_requests` have arrived. Ends
    after `longest_seconds` with what is known by then. Raises CalibrationError.
    """
    prompt, output = request_size(model)
    load = Load(
        endpoint=endpoint,
        model=model.api_name,
        prompt_tokens=prompt if prompt_tokens is None else prompt_tokens,
        output_tokens=output if output_tokens is None else output_tokens,
        slo=model.slo.ttft_seconds,
        step_seconds=step_seconds,
        least_requests=least_requests,
        longest_step_seconds=max(step_seconds, 300.0),
        most_in_flight=4 * model.max_num_seqs,
        longest_context=model.max_model_len,
        key=key,
    )
    _possible(load, longest_seconds)
    begin = (
        BEGIN_SHARE * physical_model(settings, model).curve(load.prompt_tokens, load.output_tokens).capacity
    )
    return asyncio.run(_search(load, limits or Limits(start=begin), longest_seconds, on_step))


async def _search(load: Load, limits: Limits, longest: float, on_step: OnStep) -> Calibration:
    loop = asyncio.get_running_loop()
    until = loop.time() + longest

    async with Generator(load) as generator:

        async def measure(rate: float) -> Step:
            if loop.time() > until:
                raise TimeoutError
            step = await generator.step(rate)
            seen.append(step)
            on_step(step)
            return step

        seen: list[Step] = []
        try:
            return await search(measure, load.slo, limits)
        except TimeoutError:
            return _so_far(seen, load, longest)


def _so_far(seen: list[Step], load: Load, longest: float) -> Calibration:
    """The best step before time ran out; it is at least this much."""
    good = [step for step in seen if step.within]
    if not good:
        raise refused("--longest", f"{longest:g} s", "time for a step within the SLO", "give it more")
    best = max(good, key=lambda step: step.offered)
    return Calibration(
        min(best.offered, best.served), best.prompt_tokens, best.output_tokens, best.ttft_p95, load.slo,
        "atLeast", "load", tuple(seen),
    )  # fmt: skip


def _address(text: str) -> bool:
    """A host and a port that exist; no other scheme."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _possible(load: Load, longest: float) -> None:
    problems: list[CalibrationError] = []
    if not _address(load.endpoint):
        problems.append(refused("--endpoint", shown(load.endpoint), "an http:// or https:// address",
                                "e.g. http://127.0.0.1:8000"))  # fmt: skip
    if load.prompt_tokens + load.output_tokens > load.longest_context:
        problems.append(refused("tokens", f"{load.prompt_tokens:g} + {load.output_tokens:g}",
                                f"at most maxModelLen, {load.longest_context}", "ask for fewer"))  # fmt: skip
    for name, value in (("--prompt-tokens", load.prompt_tokens), ("--output-tokens", load.output_tokens)):
        if not (math.isfinite(value) and value >= 1):
            problems.append(refused(name, f"{value:g}", "1 or more", "leave it out"))
    if not (math.isfinite(load.step_seconds) and load.step_seconds > 0):
        problems.append(refused("--step-seconds", f"{load.step_seconds:g}", "above 0", "use 60"))
    if not longest > 0:
        problems.append(refused("--longest", f"{longest:g}", "seconds above 0", "use 1800"))
    if problems:
        raise CalibrationError(problem for error in problems for problem in error.problems)
