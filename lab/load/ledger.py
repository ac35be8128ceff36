"""The books of a load: every request that was sent ends in exactly one column."""

import threading
import time
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from lab.load import causes
from lab.load.exchange import Outcome

KEPT_FAILURES: Final = 20
WINDOW_SECONDS: Final = 10.0
"""What rates and percentiles of the live view look back on."""


@dataclass(frozen=True, kw_only=True)
class Percentiles:
    """Seconds; None where nothing was measured."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None
    largest: float | None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One lost request. ``at`` is seconds from the start of the load to its sending, ``after`` from there to its
    loss; ``clock`` is the wall clock (seconds of the epoch) at its loss.
    """

    at: float
    after: float
    clock: float
    id: str
    target: str
    route: str
    stream: bool
    cause: str
    detail: str


@dataclass(kw_only=True)
class Second:
    """One second of a load; requests by when they were sent, ended, or lost."""

    sent: int = 0
    completed: int = 0
    lost: int = 0
    first: list[float] = field(default_factory=list[float])
    """Times to first token of the streams that began to answer in this second."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """A load at one moment. ``sent`` = in flight + completed + lost + abandoned. Rates a second, over 10 s."""

    seconds: float
    sent: int
    in_flight: int
    completed: int
    lost: int
    abandoned: int
    """Still in flight when the load was told to stop at once."""
    unsent: int
    """Due, and not sent: the generator's own limit of requests in flight was reached."""
    by_cause: dict[str, int]
    sent_rate: float
    completed_rate: float
    first_token: Percentiles
    """Of the last ten seconds."""
    targets: tuple[str, ...]


class Ledger:
    """Written by the load's thread, read by any."""

    def __init__(self, kept_failures: int = KEPT_FAILURES) -> None:
        self._kept = kept_failures
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._ids: set[str] = set()
        self._recent: deque[tuple[float, float]] = deque()
        self.seconds: defaultdict[int, Second] = defaultdict(Second)
        self.by_cause: Counter[str] = Counter()
        self.by_target: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.by_kind: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self.first = array("d")
        self.whole = array("d")
        self.late = array("d")
        self.sent = self.completed = self.lost = self.abandoned = self.unsent = self.clipped = 0
        self.prompt_tokens = self.output_tokens = 0

    def start(self) -> None:
        """The load begins now."""
        self._begun = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begun

    def send(self, target: str, *, clipped: bool) -> None:
        """A request goes out."""
        with self._lock:
            self.sent += 1
            self.clipped += clipped
            if target:
                self.by_target[target]["sent"] += 1
            self.seconds[int(self.elapsed)].sent += 1

    def skip(self) -> None:
        """A request was due, and the generator could not send it."""
        with self._lock:
            self.unsent += 1

    def delay(self, seconds: float) -> None:
        """How late an arrival was sent."""
        self.late.append(seconds)

    def abandon(self) -> None:
        """A request is given up because the load is."""
        with self._lock:
            self.abandoned += 1

    def begin(self, first: float) -> None:
        """A stream's first token is there, so many seconds after its request."""
        with self._lock:
            now = self.elapsed
            self.first.append(first)
            self._recent.append((now, first))
            self.seconds[int(now)].first.append(first)

    def end(self, outcome: Outcome) -> None:
        """A request has come to its end, one way or the other."""
        now, moment = self.elapsed, self.elapsed - outcome.seconds
        with self._lock:
            if outcome.cause is None and outcome.answer_id:
                if outcome.answer_id in self._ids:
                    outcome.cause, outcome.detail = causes.DUPLICATE, outcome.answer_id
                self._ids.add(outcome.answer_id)
            if outcome.cause is None:
                self._complete(outcome, int(now))
            else:
                self._lose(outcome, outcome.cause, moment, now)

    def _complete(self, outcome: Outcome, second: int) -> None:
        request = outcome.request
        self.completed += 1
        self.whole.append(outcome.seconds)
        self.prompt_tokens += outcome.prompt_tokens
        self.output_tokens += outcome.output_tokens
        self.by_target[outcome.target]["completed"] += 1
        self.by_kind[f"{request.route}{' stream' if request.stream else ''}"] += 1
        self.seconds[second].completed += 1

    def _lose(self, outcome: Outcome, cause: str, moment: float, now: float) -> None:
        request = outcome.request
        self.lost += 1
        self.by_cause[cause] += 1
        if outcome.target:
            self.by_target[outcome.target]["lost"] += 1
        self.seconds[int(now)].lost += 1
        if len(self.failures) < self._kept:
            self.failures.append(
                Failure(
                    at=moment,
                    after=outcome.seconds,
                    clock=time.time(),
                    id=request.id,
                    target=outcome.target,
                    route=request.route,
                    stream=request.stream,
                    cause=cause,
                    detail=outcome.detail,
                )
            )

    def counts(self, targets: tuple[str, ...]) -> Counts:
        """The load as it is now."""
        with self._lock:
            now = self.elapsed
            while self._recent and self._recent[0][0] < now - WINDOW_SECONDS:
                self._recent.popleft()
            span = min(WINDOW_SECONDS, max(1.0, now))
            recent = [self.seconds.get(int(now) - back, Second()) for back in range(1, int(span) + 1)]
            return Counts(
                seconds=now,
                sent=self.sent,
                in_flight=self.sent - self.completed - self.lost - self.abandoned,
                completed=self.completed,
                lost=self.lost,
                abandoned=self.abandoned,
                unsent=self.unsent,
                by_cause=dict(self.by_cause),
                sent_rate=sum(one.sent for one in recent) / int(span),
                completed_rate=sum(one.completed for one in recent) / int(span),
                first_token=percentiles([first for _, first in self._recent]),
                targets=targets,
            )


def percentiles(values: Sequence[float]) -> Percentiles:
    """Of a sample, each the value that so many do not exceed."""
    ordered = sorted(values)

    def at(share: float) -> float | None:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None

    return Percentiles(count=len(ordered), p50=at(0.5), p95=at(0.95), p99=at(0.99), largest=at(1.0))
