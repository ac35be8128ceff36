"""Shows what today's program would change in each stored state: `python -m tests.engine.upgrades.show [STATE...]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.cloud.outcome import Outcome
from lab.tools import ensure
from tests.engine.upgrades.replay import replayed
from tests.engine.upgrades.stored import load, names
from tests.engine.upgrades.verdict import removed


def table(state: str, outcome: Outcome) -> Table:
    """The resources that change, those that go first."""
    gone = set(removed(outcome.steps))
    made = Table(title=f"{state}: {outcome.status}, {len(gone)} replaced or deleted", title_justify="left")
    for column in ("operation", "resource", "properties"):
        made.add_column(column, overflow="fold")
    changed = [step for step in outcome.steps if step.op != "same"]
    for step in sorted(changed, key=lambda step: (f"{step.type} {step.name}" not in gone, step.op, step.urn)):
        made.add_row(step.op, f"{step.type} {step.name}", "\n".join(change.path for change in step.diff))
    return made


def main(states: Sequence[str]) -> None:
    """Print a table for each named state, or for all."""
    cli, console = ensure(["pulumi"])["pulumi"], Console()
    for state in states or names():
        with tempfile.TemporaryDirectory(prefix="headroom-upgrades-") as folder:
            outcome = replayed(load(state), Path(folder), cli)
        console.print(table(state, outcome))
        for problem in outcome.problems:
            console.print(problem, style="red")


if __name__ == "__main__":
    main(sys.argv[1:])
