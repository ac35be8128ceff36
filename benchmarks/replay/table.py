"""Rows of the goal table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One measured goal. `ours` and `baseline` are what was compared, `ratio` what the threshold is for."""

    goal: str
    subject: str
    ours: str
    baseline: str
    ratio: float
    threshold: float
    at_least: bool = False

    @property
    def passed(self) -> bool:
        """The ratio is on the right side of the threshold."""
        return self.ratio >= self.threshold if self.at_least else self.ratio <= self.threshold


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(title="Goals", title_justify="left")
    for column in ("goal", "subject", "ours", "baseline", "ratio", "threshold", "pass"):
        table.add_column(column, justify="left" if column in ("goal", "subject", "pass") else "right")
    for row in rows:
        sign = ">=" if row.at_least else "<="
        table.add_row(
            row.goal,
            row.subject,
            row.ours,
            row.baseline,
            f"{row.ratio:.4g}",
            f"{sign} {row.threshold:g}",
            "[green]yes[/]" if row.passed else "[red]no[/]",
        )
    console.print(table)


def save(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as JSON."""
    path.write_text(json.dumps([asdict(row) | {"pass": row.passed} for row in rows], indent=1) + "\n")
