"""The clairvoyant bound, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrivals import arrivals
from planner.replay import bound
from planner.traces import of_counts, of_rates


def levels(text: str) -> np.ndarray:
    return np.array([int(digit) for digit in text])


@pytest.mark.parametrize(
    ("demand", "lead", "seconds"),
    [
        ("1111", 10, 4 + 10),
        ("0110", 10, 2 + 10),
        ("1221", 10, (4 + 10) + (2 + 10)),
        ("1001", 10, 2 + 10 + 2),  # the gap of two seconds is bridged
        ("1" + "0" * 30 + "1", 10, 2 + 10 + 10),  # the gap is longer than a start
        ("0000", 10, 0),
        ("", 10, 0),
    ],
)
def test_each_level_costs_its_time_one_start_and_its_gaps(demand: str, lead: float, seconds: float) -> None:
    assert bound.node_seconds(levels(demand), lead) == seconds


def test_demand_is_the_rate_over_thirty_seconds_in_whole_replicas() -> None:
    counts = np.zeros(120, dtype=np.int64)
    counts[60] = 60
    found = bound.needed(bound.steady_rate(arrivals(of_counts("spike", counts), 1.0, 0)), 1.0)
    assert found[59] == 0
    assert list(found[60:90]) == [2] * 30
    assert found[90] == 0


def test_a_rate_trace_is_bounded_by_its_profile_and_not_by_its_noise() -> None:
    load = arrivals(of_rates("flat", np.full(10, 3.3), 60), 1.0, 0)
    assert set(bound.needed(bound.steady_rate(load), 1.65)) == {2}
