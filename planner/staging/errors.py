"""Why weights can't be staged or read."""

from __future__ import annotations

from collections.abc import Iterable

from planner.aws.unanswered import UnansweredError
from specs.problems import Problem


class StagingError(Exception):
    """Refused or failed; `problems` holds every reason, each with its way out."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


def refused(path: str, given: str, allowed: str, fix: str) -> StagingError:
    """One reason."""
    return StagingError([Problem(path, given, allowed, fix)])


def failed(path: str, error: UnansweredError) -> StagingError:
    """What S3 did not do."""
    return refused(path, error.reason, "an answer of S3", error.fix)
