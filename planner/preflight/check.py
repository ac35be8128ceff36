"""One question to AWS and its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from planner.aws.unanswered import UnansweredError

Verdict = Literal["pass", "fail", "unknown"]
INDENT = 8
ALLOW, TO_WHOM = "allow ", " to this identity"
"""Around the IAM action of a way out (planner.aws.unanswered)."""
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
    """Print what fails with its way out, what is unknown by its reason, and what passes; the sums last."""
    found = list(checks)
    for verdict in ("fail", "unknown", "pass"):
        for same in _alike([check for check in found if check.verdict == verdict]):
            _render(same, console)
    sums = {verdict: sum(check.verdict == verdict for check in found) for verdict in STYLES}
    console.print(Text(", ".join(f"{count} {verdict}" for verdict, count in sums.items()), style="bold"))


def _alike(checks: Iterable[Check]) -> list[list[Check]]:
    """Neighbours of one reason together: without a network all of them have the same."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        key = (check.found, check.fix.partition(";")[0]) if check.verdict == "unknown" else (check.name, "")
        groups.setdefault(key, []).append(check)
    return list(groups.values())


def _render(checks: list[Check], console: Console) -> None:
    first = checks[0]
    console.print(
        Text.assemble(
            (f"{first.verdict:8}", STYLES[first.verdict]), (", ".join(c.name for c in checks), "bold")
        ),
        soft_wrap=False,
    )
    lines = [("found", first.found)]
    if len(checks) == 1:
        lines.append(("needed", first.needed))
    if first.fix:
        lines.append(("way out", first.fix if len(checks) == 1 else _fixes(checks)))
    if first.verdict == "pass":
        lines = [("found", f"{first.found}; needed {first.needed}")]
    for label, words in lines:
        text = Text.assemble((f"{label} ", "dim"), words)
        console.print(Padding(text, (0, 0, 0, INDENT)), soft_wrap=False)


def _fixes(checks: list[Check]) -> str:
    """Each part of the ways out once, in their order."""
    parts = dict.fromkeys(part.strip() for check in checks for part in check.fix.split(";"))
    allowed = [
        part[len(ALLOW) : -len(TO_WHOM)]
        for part in parts
        if part.startswith(ALLOW) and part.endswith(TO_WHOM)
    ]
    rest = [part for part in parts if not (part.startswith(ALLOW) and part.endswith(TO_WHOM))]
    return "; ".join(rest + ([f"{ALLOW}{', '.join(allowed)}{TO_WHOM}"] if allowed else []))
