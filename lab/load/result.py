"""What a load came to: counts, causes, times and the first failures, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

from lab.load.causes import MEANINGS
from lab.load.ledger import WINDOW_SECONDS, Failure, Ledger, Percentiles, Second, percentiles

if TYPE_CHECKING:
    from lab.load.load import Load


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """Every request ``sent`` is in one of completed, lost and abandoned. Times in seconds, CPU of the generator."""

    model: str
    profile: str
    seed: int
    seconds: float
    sent: int
    completed: int
    lost: int
    abandoned: int
    unsent: int
    clipped: int
    by_cause: dict[str, int]
    by_target: dict[str, dict[str, int]]
    by_kind: dict[str, int]
    first_token: Percentiles
    answer: Percentiles
    lateness: Percentiles
    prompt_tokens: int
    output_tokens: int
    cpu_seconds: float
    failures: tuple[Failure, ...]
    timeline: tuple[Second, ...]
    """Second by second from the start."""

    @classmethod
    def of(cls, load: Load, books: Ledger, cpu_seconds: float) -> LoadResult:
        """The closed books of a load."""
        return cls(
            model=load.model,
            profile=load.profile.words,
            seed=load.seed,
            seconds=books.elapsed,
            sent=books.sent,
            completed=books.completed,
            lost=books.lost,
            abandoned=books.abandoned,
            unsent=books.unsent,
            clipped=books.clipped,
            by_cause=dict(books.by_cause.most_common()),
            by_target={target: dict(found) for target, found in sorted(books.by_target.items())},
            by_kind=dict(sorted(books.by_kind.items())),
            first_token=percentiles(books.first),
            answer=percentiles(books.whole),
            lateness=percentiles(books.late),
            prompt_tokens=books.prompt_tokens,
            output_tokens=books.output_tokens,
            cpu_seconds=cpu_seconds,
            failures=tuple(books.failures),
            timeline=tuple(books.seconds.get(second, Second()) for second in range(int(books.elapsed) + 1)),
        )

    def violation_seconds(self, slo: float) -> int:
        """Seconds in which the p95 time to first token of the last 10 s exceeds ``slo``."""
        width, found = int(WINDOW_SECONDS), 0
        for end in range(len(self.timeline)):
            window = [
                first for one in self.timeline[max(0, end - width + 1) : end + 1] for first in one.first
            ]
            p95 = percentiles(window).p95
            found += p95 is not None and p95 > slo
        return found

    def as_json(self) -> dict[str, Any]:
        """The document of `headroom lab load --json`; docs/json/load.schema.json describes it."""
        return {
            "model": self.model,
            "profile": self.profile,
            "seed": self.seed,
            "durationSeconds": round(self.seconds, 3),
            "sent": self.sent,
            "completed": self.completed,
            "lost": self.lost,
            "abandoned": self.abandoned,
            "unsent": self.unsent,
            "clipped": self.clipped,
            "lostByCause": self.by_cause,
            "byTarget": {
                target: {name: found.get(name, 0) for name in ("sent", "completed", "lost")}
                for target, found in self.by_target.items()
            },
            "completedByKind": self.by_kind,
            "firstTokenSeconds": _seconds(self.first_token),
            "answerSeconds": _seconds(self.answer),
            "latenessSeconds": _seconds(self.lateness),
            "promptTokens": self.prompt_tokens,
            "outputTokens": self.output_tokens,
            "cpuSeconds": round(self.cpu_seconds, 3),
            "failures": [_failure(one) for one in self.failures],
        }

    def table(self) -> Group:
        """For the terminal."""
        rate = self.completed / self.seconds if self.seconds else 0.0
        summary = Table(
            title=f"{self.model}: {self.profile}, {self.seconds:.1f} s, seed {self.seed}",
            title_justify="left",
        )
        for name in (
            "sent",
            "completed",
            "lost",
            "abandoned",
            "unsent",
            "req/s",
            "TTFT p50",
            "p95",
            "p99",
            "answer p95",
        ):
            summary.add_column(name, justify="right")
        summary.add_row(
            *map(str, (self.sent, self.completed, self.lost, self.abandoned, self.unsent)),
            f"{rate:.2f}",
            *map(shown_seconds, (self.first_token.p50, self.first_token.p95, self.first_token.p99)),
            shown_seconds(self.answer.p95),
        )
        if self.unsent:
            summary.caption = f"{self.unsent} arrivals were due and not sent: too many requests in flight"
        parts = [summary]
        if self.by_cause:
            parts += [_causes(self.by_cause), _failures(self.failures)]
        return Group(*parts)


def shown_seconds(value: float | None) -> str:
    """`0.35 s`, or `-`."""
    return "-" if value is None else f"{value:.2f} s"


def _causes(by_cause: dict[str, int]) -> Table:
    shown = Table(title="Lost, by cause", title_justify="left")
    shown.add_column("cause", style="red")
    shown.add_column("requests", justify="right")
    shown.add_column("meaning")
    for cause, count in by_cause.items():
        shown.add_row(cause, str(count), MEANINGS.get(cause, "an HTTP status other than 200"))
    return shown


def _failures(failures: tuple[Failure, ...]) -> Table:
    shown = Table(title=f"The first {len(failures)} of them", title_justify="left")
    for name in ("sent at", "lost after", "target", "kind", "cause", "detail"):
        shown.add_column(name, justify="right" if name in ("sent at", "lost after") else "left")
    for one in failures:
        kind = one.route.removeprefix("/v1/") + (", stream" if one.stream else "")
        target = one.target.removeprefix("http://") or "-"
        shown.add_row(f"{one.at:.1f} s", f"{one.after:.1f} s", target, kind, one.cause, one.detail)
    return shown


def _seconds(found: Percentiles) -> dict[str, float | int | None]:
    return {
        "count": found.count,
        "p50": _rounded(found.p50),
        "p95": _rounded(found.p95),
        "p99": _rounded(found.p99),
        "max": _rounded(found.largest),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _failure(one: Failure) -> dict[str, object]:
    return {
        "sentAtSeconds": round(one.at, 3),
        "lostAfterSeconds": round(one.after, 3),
        "lostAt": datetime.fromtimestamp(one.clock, UTC).isoformat(timespec="milliseconds"),
        "id": one.id,
        "target": one.target,
        "route": one.route,
        "stream": one.stream,
        "cause": one.cause,
        "detail": one.detail,
    }
