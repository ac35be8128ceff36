"""A trace made concrete: arrivals per second, and the requests themselves where the replay needs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.traces import Trace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Arrivals:
    """What reaches the router. `per_second[i]` requests come in [i, i + 1); `rate[i]` is the rate behind them
    (the same counts where the trace is not a rate). Request times are sorted seconds.
    """

    duration: int
    per_second: Ints
    rate: Floats
    smooth: bool
    """`rate` is a profile, not a count."""
    times: Floats | None = None
    prompt_tokens: Ints | None = None
    output_tokens: Ints | None = None

    @property
    def total(self) -> int:
        """Requests in all."""
        return int(self.per_second.sum())

    def requests(self, seed: int, prompt: float, output: float) -> tuple[Floats, Ints, Ints]:
        """Times and sizes of every request. Those a rate or count trace lacks are spread evenly at random inside
        their second, with sizes drawn around the given means (log-normal, sigma 0.8 and 0.7, which is the spread
        of the public conversation traces).
        """
        if self.times is not None and self.prompt_tokens is not None and self.output_tokens is not None:
            return self.times, self.prompt_tokens, self.output_tokens
        source = np.random.default_rng([seed, 2])
        count = self.total
        times = np.repeat(np.arange(self.duration, dtype=np.float64), self.per_second)
        times += source.random(count)
        times.sort()
        return times, _sizes(source, prompt, 0.8, count), _sizes(source, output, 0.7, count)


def _sizes(source: np.random.Generator, mean: float, sigma: float, count: int) -> Ints:
    drawn = source.lognormal(np.log(mean) - sigma**2 / 2, sigma, count)
    return np.clip(np.rint(drawn), 1, mean * 6).astype(np.int64)


def arrivals(trace: Trace, scale: float, seed: int) -> Arrivals:
    """Arrivals of `trace` at `scale` times its rate. Rates become Poisson counts; counts and requests are thinned,
    or repeated with a jitter inside the second. The same seed gives the same arrivals.
    """
    source = np.random.default_rng([seed, 1])
    duration = trace.duration
    if trace.rates is not None:
        rate = np.repeat(trace.rates, trace.bin_seconds)[:duration] * scale
        return Arrivals(duration, source.poisson(rate).astype(np.int64), rate, smooth=True)
    if trace.counts is not None:
        counts = _scaled_counts(source, trace.counts[:duration], scale)
        return Arrivals(duration, counts, counts.astype(np.float64), smooth=False)
    times, prompt, output = trace.requests
    copies = _scaled_counts(source, np.ones(len(times), dtype=np.int64), scale)
    picked = np.repeat(np.arange(len(times)), copies)
    moments = times[picked]
    if scale > 1:
        moments = np.floor(moments) + source.random(len(moments))
    order = np.argsort(moments, kind="stable")
    picked, moments = picked[order], moments[order]
    counts = np.bincount(moments.astype(np.int64), minlength=duration)[:duration].astype(np.int64)
    return Arrivals(
        duration, counts, counts.astype(np.float64), smooth=False,
        times=moments, prompt_tokens=prompt[picked], output_tokens=output[picked],
    )  # fmt: skip


def _scaled_counts(source: np.random.Generator, counts: Ints, scale: float) -> Ints:
    whole = int(scale)
    share = scale - whole
    scaled = counts * whole
    return scaled + source.binomial(counts, share) if share > 0 else scaled
