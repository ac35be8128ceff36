"""What a run asked of the recorded cloud, in order, and what the cloud refused."""

import threading
from dataclasses import dataclass
from typing import Literal

Verb = Literal["create", "update", "delete", "read"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request that would have changed the cloud. Previews change nothing and leave no calls."""

    verb: Verb
    urn: str
    type: str
    name: str
    id: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An input that the cloud would not accept.

    `urn` and `name` say which resource, `path` which property of it; `given`, `allowed` and `fix` are for the
    reader.
    """

    urn: str
    type: str
    name: str
    path: str
    given: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}: {self.reason}"

    @property
    def reason(self) -> str:
        """The same without the resource, for places that already name it."""
        where = f"{self.path}: " if self.path else ""
        return f"{where}given {self.given}; allowed {self.allowed}; {self.fix}"


class Journal:
    """Calls and refusals of one run, safe to write from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._refusals: dict[tuple[str, str, str], Refusal] = {}
        self._notes: dict[str, None] = {}

    def record(self, call: Call) -> None:
        with self._lock:
            self._calls.append(call)

    def refuse(self, refusal: Refusal) -> None:
        """A resource that is checked twice (a replacement is) reports its problem once."""
        with self._lock:
            self._refusals.setdefault((refusal.urn, refusal.path, refusal.given), refusal)

    def note(self, text: str) -> None:
        """Something a reader should know that is no reason to stop."""
        with self._lock:
            self._notes[text] = None

    @property
    def notes(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._notes))

    @property
    def calls(self) -> tuple[Call, ...]:
        with self._lock:
            return tuple(self._calls)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        with self._lock:
            return tuple(sorted(self._refusals.values(), key=lambda refusal: (refusal.urn, refusal.path)))
