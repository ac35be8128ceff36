"""A stack that is up on a lab of its own, for as long as a benchmark measures it."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cloud.outcome import Outcome
from lab.scenario.timeline import Timeline
from lab.stage.project import with_cap
from lab.stage.stage import PROJECT, Stage, Step, open_stage, quiet


@dataclass(frozen=True)
class Staged:
    """The stack, what the API server told since before it came up, and how it came up."""

    stage: Stage
    timeline: Timeline
    brought_up: Outcome


@contextmanager
def staged(overrides: Mapping[str, Any], factor: float, *, progress: Step = quiet) -> Generator[Staged]:
    """The local stack with these overrides, brought up; its policies' cap is the overrides' budget, if they state one.
    SystemExit tells why it did not come up. The lab is gone afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="headroom-") as name:
        folder = Path(name)
        budget = overrides.get("headroom:gpuBudget")
        policies = budget and with_cap(PROJECT, "local", budget["maxGpus"], folder / "policies.json")
        stage = open_stage(
            folder / "lab", factor=factor, overrides=overrides, policies=policies, progress=progress
        )
        try:
            with Timeline(stage.plane.kubeconfig) as timeline:
                outcome = stage.up()
                if not outcome.ok:
                    raise SystemExit("\n".join(outcome.problems))
                yield Staged(stage, timeline, outcome)
        finally:
            stage.close()
