"""What is wrong with a configuration, said the same way everywhere: path, given, allowed, way out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

MAX_SHOWN = 120


@dataclass(frozen=True, order=True)
class Problem:
    """One finding about the configuration.

    `path` is a key path as the stack file spells it (`models[0].replicas.max`), `given` the value found,
    `allowed` what would be accepted and `fix` the way out.
    """

    path: str
    given: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path}: {self.given}; {self.allowed}; {self.fix}"

    def as_json(self) -> dict[str, str]:
        """The four keys of the `headroom check --json` contract."""
        return asdict(self)


class SettingsError(Exception):
    """The configuration is refused; `problems` holds every reason, in a stable order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the configuration"
        super().__init__("\n  ".join([head, *map(str, self.problems)]))


def shown(value: object) -> str:
    """`value` as the user wrote it, on one line and no longer than MAX_SHOWN characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = repr(value)
    return printable(text)


def printable(text: str, limit: int = MAX_SHOWN) -> str:
    """`text` on one line of at most `limit` characters: what a terminal would obey is written as its escape."""
    safe = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"
