"""Traces: what arrived, as a rate, as counts per second or as every request.

`read` takes a file (planner.trace_files knows the formats) or `generate:KIND[:DAYS[:RPS]]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specs.problems import Problem

LONGEST_SECONDS = 100 * 86_400


class TraceError(Exception):
    """The trace is refused; `problems` holds every reason found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Trace:
    """One of three forms. `rates` holds requests a second per bin of `bin_seconds`; `counts` the requests of each
    second; `times` (seconds, sorted), `prompt` and `output` (tokens) one entry a request.
    """

    name: str
    duration: int
    """Whole seconds."""
    rates: NDArray[np.float64] | None = None
    bin_seconds: int = 1
    counts: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    prompt: NDArray[np.int64] | None = None
    output: NDArray[np.int64] | None = None

    @property
    def requests(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Times and sizes of every request. Raises ValueError for the other forms."""
        if self.times is None or self.prompt is None or self.output is None:
            raise ValueError(f"{self.name} is not a request trace")
        return self.times, self.prompt, self.output

    @property
    def mean_rate(self) -> float:
        """Requests a second over the whole trace."""
        if self.rates is not None:
            return float(self.rates.mean())
        total = self.counts.sum() if self.counts is not None else len(self.requests[0])
        return float(total) / self.duration


def of_rates(name: str, rates: NDArray[np.float64], bin_seconds: int) -> Trace:
    """A rate trace of equal bins."""
    return Trace(name, len(rates) * bin_seconds, rates=rates, bin_seconds=bin_seconds)


def of_counts(name: str, counts: NDArray[np.int64]) -> Trace:
    """A trace of requests per second."""
    return Trace(name, len(counts), counts=counts)


def of_requests(
    name: str, times: NDArray[np.float64], prompt: NDArray[np.int64], output: NDArray[np.int64]
) -> Trace:
    """A trace of single requests; it ends with the second of the last one."""
    return Trace(name, int(times[-1]) + 1, times=times, prompt=prompt, output=output)
