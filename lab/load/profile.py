"""When requests are sent: by clients that wait for their answers, or at moments of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lab.load.errors import LoadError
from lab.load.request import Sizes
from planner.arrivals import arrivals
from planner.generator import KINDS, PREFIX
from planner.open_trace import open_trace
from planner.traces import Trace, TraceError
from specs.problems import Problem, shown

PUBLISHED_CLIENTS: Final = 50
"""The published stress profile: 50 clients, each sends its next request when it has the answer to the last."""
MOST_CLIENTS: Final = 2000
MOST_REQUESTS: Final = 2_000_000
MOST_SECONDS: Final = 48 * 3600.0


@dataclass(frozen=True, kw_only=True)
class Closed:
    """``clients`` who each wait for an answer, then ``think`` seconds, then ask again. Ends by time or by count."""

    clients: int = PUBLISHED_CLIENTS
    think: float = 0.0
    seconds: float | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        """Raises LoadError."""
        problems = _bounds(self.seconds, self.requests)
        if not 1 <= self.clients <= MOST_CLIENTS:
            allowed = f"from 1 to {MOST_CLIENTS}"
            problems.append(Problem("clients", str(self.clients), allowed, "choose fewer or more"))
        if not 0 <= self.think <= MOST_SECONDS:
            problems.append(Problem("think", f"{self.think:g}", "seconds, 0 or more", "give 0"))
        if self.seconds is None and self.requests is None:
            problems.append(Problem("load", "no end", "a time or a number of requests", "give one of them"))
        if problems:
            raise LoadError(problems)

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.clients} client{'s' if self.clients != 1 else ''}, each after its answer"


@dataclass(frozen=True, kw_only=True)
class Open:
    """Requests at ``times`` (seconds from the start, in order), answered or not. ``sizes`` are theirs, if known."""

    name: str
    times: Sequence[float]
    sizes: Sequence[Sizes] | None = None
    seconds: float | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        """Raises LoadError."""
        problems = _bounds(self.seconds, self.requests)
        if not len(self.times):
            problems.append(
                Problem("arrivals", self.name, "at least one request", "raise the scale, or the time")
            )
        elif self.times[0] < 0 or any(later < before for before, later in pairwise(self.times)):
            problems.append(Problem("arrivals", self.name, "times from 0 on, in order", "sort them"))
        if len(self.times) > MOST_REQUESTS:
            allowed = f"at most {MOST_REQUESTS} requests"
            problems.append(
                Problem("arrivals", str(len(self.times)), allowed, "shorten it, or lower the scale")
            )
        if self.sizes is not None and len(self.sizes) != len(self.times):
            problems.append(
                Problem("sizes", str(len(self.sizes)), f"one each, {len(self.times)}", "add the rest")
            )
        if problems:
            raise LoadError(problems)

    @property
    def words(self) -> str:
        """For people."""
        return f"arrivals of {self.name}, answered or not"


Profile = Closed | Open


def of_trace(
    trace: Trace,
    *,
    scale: float = 1.0,
    speed: float = 1.0,
    seed: int = 0,
    seconds: float | None = None,
    requests: int | None = None,
    prompt_tokens: float = 1000.0,
    output_tokens: float = 200.0,
) -> Open:
    """The arrivals that the replay draws from this trace, scale and seed.

    ``speed`` runs the trace's clock faster: its shape passes in less time, while the rate stays the trace's, times
    ``scale``; so a day at speed 60 takes 24 minutes and has a sixtieth of its requests. Raises LoadError.
    """
    problems = [
        Problem(name, f"{value:g}", "above 0, at most 100000", "choose another")
        for name, value in (("scale", scale), ("speed", speed))
        if not 0 < value <= 100_000
    ]
    most = trace.mean_rate * trace.duration * scale / speed if not problems else 0
    if most > MOST_REQUESTS:
        given = f"about {most:.0f} requests"
        fix = "lower the scale, raise the speed, or use a shorter trace"
        problems.append(Problem("arrivals", given, f"at most {MOST_REQUESTS}", fix))
    if problems:
        raise LoadError(problems)
    drawn = arrivals(trace, scale / speed, seed)
    moments, prompts, outputs = drawn.requests(seed, prompt_tokens, output_tokens)
    times = moments / speed
    kept = int((times < seconds).sum()) if seconds is not None else len(times)
    kept = min(kept, requests) if requests is not None else kept
    return Open(
        name=trace.name,
        times=times[:kept].tolist(),
        sizes=list(zip(prompts[:kept].tolist(), outputs[:kept].tolist(), strict=True)),
        seconds=seconds,
        requests=requests,
    )


def trace_of(text: str, seed: int = 0) -> Trace:
    """A kind such as ``diurnal`` or ``bursty:1:5`` (days, mean requests a second), or a trace file. LoadError."""
    kind = text.removeprefix(PREFIX)
    try:
        return open_trace(PREFIX + kind if kind.partition(":")[0] in KINDS else text, seed)
    except TraceError as error:
        problems = list(error.problems)
        if not text.startswith(PREFIX) and "." not in text and "/" not in text:
            allowed = f"{', '.join(KINDS)}, each with [:DAYS[:RPS]], or a trace file"
            problems = [Problem("--arrivals", shown(text), allowed, "e.g. bursty:1:5")]
        raise LoadError(problems) from error


def _bounds(seconds: float | None, requests: int | None) -> list[Problem]:
    problems: list[Problem] = []
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        allowed = f"above 0, at most {MOST_SECONDS / 60:.0f} minutes"
        problems.append(Problem("minutes", f"{seconds / 60:g}", allowed, "choose another"))
    if requests is not None and not 1 <= requests <= MOST_REQUESTS:
        problems.append(Problem("requests", str(requests), f"from 1 to {MOST_REQUESTS}", "choose another"))
    return problems
