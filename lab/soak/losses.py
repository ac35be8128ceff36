"""Whose loss a lost request is: that of a node or process that died with it, or nobody's, which is a fault."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from lab.load import Failure, causes
from lab.soak.actions import Action

LATE_SECONDS: Final = 10.0
"""So long after a death its callers may hear of it: a busy machine is slow to close hundreds of connections."""


@dataclass(frozen=True, kw_only=True)
class Toll:
    """What a death may cost. Clock in seconds of the epoch, from just before it until just after.

    ``requests``: how many were in the engines that died. With ``router`` it is those sent to that address instead,
    however many.
    """

    action: Action
    begun: float
    ended: float
    what: str
    requests: int = 0
    router: str | None = None

    def covers(self, failure: Failure) -> bool:
        """Whether a request may be lost: under way there at the death, or refused while a router starts again."""
        if not self.begun <= failure.clock <= self.ended + LATE_SECONDS:
            return False
        under_way = failure.clock - failure.after <= self.ended
        if self.router is None:
            return under_way
        here = urlsplit(failure.target).hostname == self.router
        return here and (under_way or failure.cause == causes.REFUSED)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A lost request: of a toll, or of none. ``before`` is the action nearest before it; None before the first."""

    failure: Failure
    toll: Toll | None
    before: Action | None


def attributed(
    failures: Sequence[Failure], tolls: Sequence[Toll], acted: Sequence[tuple[float, Action]]
) -> list[Loss]:
    """Every loss in the order of the clock. A toll that is used up covers no more; ``acted``: begins by the clock."""
    left = {id(toll): toll.requests for toll in tolls}
    found: list[Loss] = []
    for failure in sorted(failures, key=lambda one: one.clock):
        blamed = None
        for toll in tolls:
            if not toll.covers(failure) or (toll.router is None and not left[id(toll)]):
                continue
            left[id(toll)] -= 1
            blamed = toll
            break
        earlier = [action for begun, action in acted if begun <= failure.clock]
        found.append(Loss(failure=failure, toll=blamed, before=earlier[-1] if earlier else None))
    return found
