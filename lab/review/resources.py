"""Which resources a change touches: the head's preview against a state brought up from the base."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.cloud.outcome import OnEvent, Outcome, Step
from lab.cloud.pack import PolicyPack
from lab.cloud.session import RecordedCloud
from lab.review.bring_up import NOT_UP

_TOOLS = Path(__file__).resolve().parents[2]
_QUIET = frozenset({"same", "read", "refresh", "create-replacement", "delete-replaced", "discard-replaced"})
"""Steps that change nothing, or that are told by another step of the same resource."""
ORDER = ("replace", "delete", "update", "create")
"""What a reviewer looks at first."""


@dataclass(frozen=True, kw_only=True)
class Touched:
    """The head's preview; `without` says why there was no base to compare with, empty where there was."""

    outcome: Outcome
    without: str = ""

    @property
    def changes(self) -> tuple[Step, ...]:
        """Resources that change, by what happens to them and then by type and name."""
        rank = {op: place for place, op in enumerate(ORDER)}
        steps = [
            step
            for step in self.outcome.steps
            if step.op not in _QUIET and not step.type.startswith("pulumi:")
        ]
        return tuple(sorted(steps, key=lambda step: (rank.get(step.op, len(ORDER)), step.type, step.name)))


def touched(
    project: Path, base: Path, stack: str, cli: Path, pack: PolicyPack | None, on_event: OnEvent | None = None
) -> Touched:
    """Preview `stack` of `project` against the base's. Where the base can't be brought up, against nothing.

    Raises EngineError, StackFileError and PolicyPackError as the recorded cloud does, for the head alone.
    """
    with tempfile.TemporaryDirectory(prefix="headroom-review-") as folder:
        state = Path(folder)
        without = _bring_up(base, state / "base", cli, stack)
        with RecordedCloud(project, state / ("empty" if without else "base"), cli) as cloud:
            outcome = cloud.preview(stack, pack=pack, on_event=on_event)
    return Touched(outcome=outcome, without=without)


def _bring_up(base: Path, state: Path, cli: Path, stack: str) -> str:
    """An empty string, or the first reason why the base's stack is not there."""
    if not (base / f"Pulumi.{stack}.yaml").is_file():
        return f"the base has no stack {stack}"
    # -P: without it the working folder would come before PYTHONPATH.
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "lab.review.bring_up", str(base), str(state), str(cli), stack],
        cwd=base,
        env=os.environ | {"PYTHONPATH": str(_TOOLS)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 0:
        return ""
    told = [line for line in ran.stderr.splitlines() if line.strip()] or ["it gave no reason"]
    # An error that nobody caught has its reason on the last line of its traceback.
    return f"the base's stack can't be brought up: {told[0 if ran.returncode == NOT_UP else -1]}"
