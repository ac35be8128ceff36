"""Secrets in the stack's configuration: where one may be, and that no message repeats it.

Pulumi marks a whole section (`headroom:platform`) secret when any value inside is; which one is not told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from specs.problems import Problem

CHARTS: Final = "headroom:platform"
"""The only section that may hold secrets: in the charts' `values`, which the engine then seals in its state."""
HIDDEN: Final = "[secret]"


def refused(sealed: Iterable[str]) -> list[Problem]:
    """A secret in any other section would stand in clear text in objects, arguments and the engine's state."""
    return [
        Problem(
            key.partition(":")[2],
            f"{HIDDEN}: the section holds a value set with --secret",
            "plain values; only charts under headroom:platform take secrets, in their values",
            "put it into a Kubernetes Secret that you name (models[].secretName), and set the value without --secret",
        )
        for key in sealed
        if key != CHARTS
    ]


def redacted(problems: Iterable[Problem], sealed: Iterable[str]) -> list[Problem]:
    """Problems as they may be shown: what was given in a section with a secret is not repeated."""
    sections = {key.partition(":")[2] for key in sealed}
    return [
        replace(problem, given=HIDDEN) if _section(problem.path) in sections else problem
        for problem in problems
    ]


def _section(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]
