"""Scaling, seeds and sizes of arrivals."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrivals import arrivals
from planner.traces import Trace, of_counts, of_rates, of_requests

RATES = of_rates("r", np.full(60, 5.0), 60)
COUNTS = of_counts("c", np.full(3600, 5, dtype=np.int64))
REQUESTS = of_requests(
    "q", np.arange(0, 3600, 0.2), np.full(18_000, 100, dtype=np.int64), np.full(18_000, 20, dtype=np.int64)
)
EVERY = [RATES, COUNTS, REQUESTS]


@pytest.mark.parametrize("trace", EVERY, ids=lambda trace: trace.name)
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
def test_the_scale_multiplies_the_requests(trace: Trace, scale: float) -> None:
    assert arrivals(trace, scale, 0).total == pytest.approx(18_000 * scale, rel=0.03)


@pytest.mark.parametrize("trace", EVERY, ids=lambda trace: trace.name)
def test_the_same_seed_gives_the_same_arrivals_and_another_seed_others(trace: Trace) -> None:
    first, again, other = (arrivals(trace, 0.5, seed).per_second for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_at_scale_one_a_request_trace_is_itself() -> None:
    times, prompt, output = arrivals(REQUESTS, 1.0, 0).requests(0, 1, 1)
    assert np.array_equal(times, REQUESTS.requests[0])
    assert set(prompt) == {100}
    assert set(output) == {20}


@pytest.mark.parametrize("trace", [RATES, COUNTS], ids=lambda trace: trace.name)
def test_missing_sizes_are_drawn_around_the_calibrated_means(trace: Trace) -> None:
    load = arrivals(trace, 1.0, 0)
    times, prompt, output = load.requests(0, 1000, 200)
    assert len(times) == load.total
    assert np.all(np.diff(times) >= 0)
    assert prompt.mean() == pytest.approx(1000, rel=0.05)
    assert output.mean() == pytest.approx(200, rel=0.05)
    assert prompt.min() >= 1


def test_requests_fall_into_the_seconds_they_are_counted_in() -> None:
    load = arrivals(RATES, 1.0, 0)
    times, _, _ = load.requests(0, 10, 10)
    assert np.array_equal(np.bincount(times.astype(np.int64), minlength=3600), load.per_second)
