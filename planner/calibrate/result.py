"""What a calibration found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from specs.problems import Problem

Bound = Literal["measured", "atLeast", "atMost"]


class CalibrationError(Exception):
    """No capacity can be told; `problems` says why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


def refused(path: str, given: str, allowed: str, fix: str) -> CalibrationError:
    """One reason."""
    return CalibrationError([Problem(path, given, allowed, fix)])


@dataclass(frozen=True)
class Step:
    """One constant rate, tried for a while. Rates in requests a second, times in seconds, sizes in tokens."""

    offered: float
    served: float
    ttft_p95: float
    requests: int
    failed: int
    prompt_tokens: float
    output_tokens: float
    within: bool
    """The p95 time to first token met the SLO, nothing failed, and the engine kept up."""

    def as_json(self) -> dict[str, object]:
        """Documented keys of `steps`."""
        return {
            "offeredPerSecond": round(self.offered, 4),
            "servedPerSecond": round(self.served, 4),
            "ttftP95Seconds": round(self.ttft_p95, 4),
            "requests": self.requests,
            "failed": self.failed,
            "within": self.within,
        }


@dataclass(frozen=True)
class Calibration:
    """The capacity of one replica at its SLO. `bound`: found between two steps, or only that it is at least or at most
    this much.
    """

    requests_per_second: float
    prompt_tokens: float
    output_tokens: float
    ttft_p95: float
    slo: float
    bound: Bound
    source: str
    steps: tuple[Step, ...] = ()

    @property
    def safe(self) -> bool:
        """A plan made with it never promises more than was seen."""
        return self.bound != "atMost"

    def as_json(self) -> dict[str, object]:
        """The document of `headroom calibrate --json`; docs/json/calibrate.schema.json describes it."""
        return {
            "capacity": self.capacity(),
            "ttftP95Seconds": round(self.ttft_p95, 4),
            "sloTtftSeconds": self.slo,
            "bound": self.bound,
            "source": self.source,
            "steps": [step.as_json() for step in self.steps],
        }

    def capacity(self) -> dict[str, float]:
        """What stands in the stack file under `capacity`, rounded down to three figures."""
        return {
            "requestsPerSecond": _down(self.requests_per_second),
            "promptTokens": round(max(1.0, self.prompt_tokens)),
            "outputTokens": round(max(1.0, self.output_tokens)),
        }


def _down(value: float) -> float:
    """Three significant figures, never more than the value."""
    digits = 0
    while value * 10**digits < 100 and digits < 6:
        digits += 1
    return int(value * 10**digits + 1e-9) / 10**digits
