"""Findings against the list of those that were reviewed and accepted, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast


@dataclass(frozen=True, order=True)
class Finding:
    """One failed check of the scanner: its id, the resource it is about, and the check's own title."""

    check: str
    resource: str
    title: str

    def __str__(self) -> str:
        return f"{self.check} {self.resource}: {self.title}"


@dataclass(frozen=True)
class Accepted:
    """One reviewed finding: `resource` may hold `*` for any text."""

    check: str
    resource: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether it is about this finding."""
        return self.check == finding.check and fnmatchcase(finding.resource, self.resource)


def findings(report: object) -> list[Finding]:
    """The failed checks of checkov's JSON, one report or a list of them, in order.

    Raises ValueError for a file the scanner could not read: what was not scanned is not clean.
    """
    reports = cast(list[Mapping[str, Any]], report if isinstance(report, list) else [report])
    found: list[Finding] = []
    for one in reports:
        unread = one["results"].get("parsing_errors") or one["summary"]["parsing_errors"]
        if unread:
            raise ValueError(f"not scanned: {unread}")
        found += [
            Finding(failed["check_id"], failed["resource"], failed["check_name"])
            for failed in one["results"]["failed_checks"]
        ]
    return sorted(set(found))


def unjustified(found: Iterable[Finding], accepted: Sequence[Accepted]) -> list[Finding]:
    """Findings that nobody has reviewed."""
    return [finding for finding in found if not any(entry.covers(finding) for entry in accepted)]


def stale(found: Sequence[Finding], accepted: Iterable[Accepted]) -> list[Accepted]:
    """Entries that no finding needs any more."""
    return [entry for entry in accepted if not any(entry.covers(finding) for finding in found)]
