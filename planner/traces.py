"""Traces: what arrived, as a rate, as counts per second or as every request; read from files with line numbers.

Formats, told apart by their header or first characters:
requests `t_s,prompt_tokens,output_tokens`; rates `t_s,...` with a column rate_rps, rps, rpm or rpm_est; counts
`minute,counts_per_second` with sixty numbers a line; Prometheus counters as `query_range` JSON or as CSV
`timestamp,value`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specs.problems import Problem

LONGEST_SECONDS = 60 * 86_400
MOST_REQUESTS = 20_000_000


class TraceError(Exception):
    """The trace is refused; `problems` holds every reason found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


@dataclass(frozen=True)
class Trace:
    """One of the three forms. `rates` holds requests a second per bin of `bin_seconds`; `counts` requests in each
    second; `times`, `prompt` and `output` one entry a request.
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
