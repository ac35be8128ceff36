"""The loads of a run, one after the other, as one: what callers sent, lost and waited for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lab.load import Failure, LoadResult, Percentiles
from lab.load.ledger import percentiles
from lab.watch.events import Event

WINDOW_SECONDS = 10
"""What rates and percentiles of the callers look back on."""
_SLACK_SECONDS = 1.0
"""By how much the mark of a load may precede the end of the one before, as both clocks see it."""


@dataclass(frozen=True)
class Loads:
    """``results`` in order, each with its ``starts`` in seconds of the epoch."""

    results: tuple[LoadResult, ...]
    starts: tuple[float, ...]

    @classmethod
    def of(cls, results: Sequence[LoadResult], events: Sequence[Event], begun: float) -> "Loads":
        """Each load begins at the first mark (of a load or a phase) after the one before; else at its end."""
        marks = sorted(event.at for event in events if event.kind in ("load", "phase"))
        starts: list[float] = []
        free = begun
        for result in results:
            start = next((mark for mark in marks if mark >= free - _SLACK_SECONDS), free)
            starts.append(start)
            free = start + result.seconds
        return cls(tuple(results), tuple(starts))

    @property
    def sent(self) -> int:
        """Requests of all loads."""
        return sum(one.sent for one in self.results)

    @property
    def completed(self) -> int:
        """Those answered, whole."""
        return sum(one.completed for one in self.results)

    @property
    def lost(self) -> int:
        """Those lost."""
        return sum(one.lost for one in self.results)

    @property
    def abandoned(self) -> int:
        """Those given up because a load was."""
        return sum(one.abandoned for one in self.results)

    @property
    def unsent(self) -> int:
        """Arrivals that the generator could not send."""
        return sum(one.unsent for one in self.results)

    @property
    def seconds(self) -> float:
        """How long the loads took together."""
        return sum(one.seconds for one in self.results)

    @property
    def words(self) -> str:
        """What was asked, load by load."""
        return "; then ".join(one.profile for one in self.results)

    @property
    def by_cause(self) -> dict[str, int]:
        """Lost requests by cause, most frequent first."""
        causes: Counter[str] = Counter()
        for one in self.results:
            causes.update(one.by_cause)
        return dict(causes.most_common())

    @cached_property
    def first_token(self) -> Percentiles:
        """Time to first token of all streams."""
        return percentiles(
            [first for one in self.results for second in one.timeline for first in second.first]
        )

    def failures(self) -> Iterator[tuple[float, Failure]]:
        """The first lost requests of each load, with the moment of their sending."""
        for start, one in zip(self.starts, self.results, strict=True):
            for failure in one.failures:
                yield start + failure.at, failure

    def violation_seconds(self, slo: float) -> int:
        """Seconds in which the p95 time to first token of the last 10 s exceeds ``slo``."""
        return sum(one.violation_seconds(slo) for one in self.results)

    def sent_rate(self, at: float) -> float | None:
        """Requests a second that callers sent in the 10 s before a moment; None outside the loads."""
        window = self._before(at)
        return None if window is None else sum(window[0]) / WINDOW_SECONDS

    def first_p95(self, at: float) -> float | None:
        """Their p95 time to first token in the same seconds."""
        window = self._before(at)
        return None if window is None else percentiles(window[1]).p95

    def _before(self, at: float) -> tuple[list[int], list[float]] | None:
        """What was sent second by second, and the first tokens, in the window before a moment."""
        if not any(
            start <= at <= start + one.seconds + WINDOW_SECONDS
            for start, one in zip(self.starts, self.results, strict=True)
        ):
            return None
        sent: list[int] = []
        firsts: list[float] = []
        for start, one in zip(self.starts, self.results, strict=True):
            until = max(0, int(at - start))
            for second in one.timeline[max(0, int(at - start) - WINDOW_SECONDS) : until]:
                sent.append(second.sent)
                firsts.extend(second.first)
        return sent, firsts
