"""Why a replay can't be done."""

from __future__ import annotations

from collections.abc import Sequence

from specs.problems import Problem


class ReplayError(Exception):
    """The replay can't be done as asked; `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))
