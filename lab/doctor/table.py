"""A diagnosis for a person: what fails first, with its way out."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lab.doctor.diagnosis import Diagnosis
from lab.doctor.finding import ORDER, Finding, Verdict

STYLES: dict[Verdict, str] = {"fail": "red", "unknown": "yellow", "pass": "green", "not-applicable": "dim"}
SHORT: dict[Verdict, str] = {"not-applicable": "n/a"}
NARROWEST = 22
"""Columns of the widest check's name: the tables stand under one another."""


def render(found: Diagnosis, console: Console) -> None:
    """One table for what the models share, one a pool, one a model; the sums and the failures last."""
    console.print(Text(f"Doctor: {found.target}", style="bold"))
    for of in dict.fromkeys(one.of for one in found.findings):
        own = [one for one in found.findings if one.of == of]
        console.print(_table(of, sorted(own, key=lambda one: ORDER.index(one.verdict))), "")
    sums = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items())
    console.print(Text(f"{found.verdict}: {sums}", style=f"bold {STYLES[found.verdict]}"))
    failed = [f"{one.of}/{one.check}" for one in found.findings if one.verdict == "fail"]
    if failed:
        console.print(Text(f"failed: {', '.join(failed)}", style=STYLES["fail"]), soft_wrap=False)


def _table(of: str, findings: Sequence[Finding]) -> Table:
    table = Table(
        title=of, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0),
        pad_edge=False, show_edge=False,
    )  # fmt: skip
    table.add_column("verdict", min_width=7)
    table.add_column("check", min_width=NARROWEST, overflow="fold")
    table.add_column("evidence, and the way out", overflow="fold", ratio=1)
    for same in _alike(findings):
        first = same[0]
        told = Text(first.evidence)
        if first.mend and first.verdict in ("fail", "unknown"):
            told.append(f"\n→ {first.mend}", style="green")
        verdict = Text(SHORT.get(first.verdict, first.verdict), style=STYLES[first.verdict])
        table.add_row(verdict, Text("\n".join(one.check for one in same)), told)
    return table


def _alike(findings: Sequence[Finding]) -> list[list[Finding]]:
    """What is unknown for one reason together: without Prometheus most checks are."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        key = (one.evidence, one.mend) if one.verdict == "unknown" else (one.check, "")
        groups.setdefault(key, []).append(one)
    return list(groups.values())
