"""One question to AWS and its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.aws.unanswered import UnansweredError

Verdict = Literal["pass", "fail", "unknown"]
STYLES: dict[Verdict, str] = {"pass": "green", "fail": "red", "unknown": "yellow"}


@dataclass(frozen=True)
class Check:
    """`found` against `needed`, and the way out; an answer that could not be had is `unknown`, never `pass`."""

    name: str
    verdict: Verdict
    found: str
    needed: str
    fix: str = ""

    def as_json(self) -> dict[str, str]:
        """The five keys of the `headroom preflight --json` contract."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "found": self.found,
            "needed": self.needed,
            "fix": self.fix,
        }


def unknown(name: str, error: UnansweredError, needed: str) -> Check:
    """The verdict of a question without an answer."""
    return Check(name, "unknown", error.reason, needed, error.fix)


def as_json(checks: Iterable[Check]) -> dict[str, object]:
    """The document of `headroom preflight --json`; docs/json/preflight.schema.json describes it."""
    return {"checks": [check.as_json() for check in checks]}


def fails(checks: Iterable[Check]) -> bool:
    """Something would fail: the command ends with 1."""
    return any(check.verdict == "fail" for check in checks)


def render_table(checks: Iterable[Check], console: Console) -> None:
    """Print the checks."""
    table = Table(title="Preflight", title_justify="left", title_style="bold", show_lines=True)
    for column in ("check", "verdict", "found", "needed", "way out"):
        table.add_column(column, overflow="fold")
    for check in checks:
        verdict = Text(check.verdict, style=STYLES[check.verdict])
        table.add_row(Text(check.name), verdict, Text(check.found), Text(check.needed), Text(check.fix))
    console.print(table)
