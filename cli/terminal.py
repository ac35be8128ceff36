"""The two consoles: results on standard output, problems and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from specs.problems import Problem

console = Console(soft_wrap=True, highlight=False)
errors = Console(stderr=True, soft_wrap=True, highlight=False)


def write_json(value: object) -> None:
    """Write one JSON document, keys as given, to standard output."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
    sys.stdout.flush()


def tell(problems: Iterable[Problem]) -> None:
    """Each on a line of its own."""
    for problem in problems:
        errors.print(line(problem))


def line(problem: Problem, label: str = "", style: str = "red") -> Text:
    """`path: given; allowed; way out`, one line however long, after an optional label."""
    return Text.assemble(
        (label, style),
        (problem.path, f"bold {style}"),
        f": {problem.given}; {problem.allowed}; ",
        (problem.fix, "green"),
    )
