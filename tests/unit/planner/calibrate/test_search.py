"""The search for the largest rate within the SLO, on engines whose capacity is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.calibrate.result import Calibration, CalibrationError, Step
from planner.calibrate.search import Limits, search
from planner.calibrated import engine_model, first_token_p95
from specs.settings import read
from specs.settings.source import load


def engine(capacity: float, seen: list[float] | None = None) -> Callable[[float], object]:
    """Meets the SLO up to `capacity` and misses it above."""

    async def measure(rate: float) -> Step:
        if seen is not None:
            seen.append(rate)
        good = rate <= capacity
        return Step(rate, min(rate, capacity), 1.0 if good else 9.0, 100, 0, 1000.0, 200.0, good)

    return measure


def found(capacity: float, limits: Limits | None = None, seen: list[float] | None = None) -> Calibration:
    return asyncio.run(search(engine(capacity, seen), 2.0, limits))  # pyright: ignore[reportArgumentType] - a coroutine function is an awaitable's maker


@settings(max_examples=60, deadline=None)
@given(capacity=st.floats(0.1, 150), start=st.floats(0.05, 200))
def test_any_capacity_within_the_bounds_is_found_to_the_precision_and_never_overstated(
    capacity: float, start: float
) -> None:
    limits = Limits(start=start, steps=40)
    answer = found(capacity, limits)
    assert answer.bound == "measured"
    assert capacity / (1 + limits.precision) - 1e-9 <= answer.requests_per_second <= capacity + 1e-9


def test_it_never_offers_more_than_its_bounds() -> None:
    seen: list[float] = []
    answer = found(1e9, Limits(start=3, most=20), seen)
    assert max(seen) == 20
    assert answer.bound == "atLeast"


def test_it_never_takes_more_steps_than_it_may() -> None:
    seen: list[float] = []
    found(7.3, Limits(start=1, steps=5, precision=1e-6), seen)
    assert len(seen) == 5


def test_a_replica_that_meets_the_slo_at_no_rate_is_refused_with_what_was_seen() -> None:
    with pytest.raises(CalibrationError) as refused:
        found(0.001)
    assert "p95 of 9.00 s" in refused.value.problems[0].given


def test_a_served_rate_below_the_offered_one_is_the_capacity() -> None:
    async def measure(rate: float) -> Step:
        return Step(rate, 0.9 * rate, 1.0, 100, 0, 1000.0, 200.0, rate <= 4)

    answer = asyncio.run(search(measure, 2.0, Limits(start=4, steps=2)))
    assert answer.requests_per_second == pytest.approx(3.6)


@pytest.mark.parametrize(
    ("rate", "written"),
    [(1.6599, 1.65), (12.3456, 12.3), (123.4, 123), (1234.5, 1234), (0.123456, 0.123), (2.0, 2)],
)
def test_the_capacity_is_rounded_down_to_three_figures(rate: float, written: float) -> None:
    answer = Calibration(rate, 1155.4, 211.2, 1.0, 2.0, "measured", "load")
    assert answer.capacity() == {"requestsPerSecond": written, "promptTokens": 1155, "outputTokens": 211}


def test_the_capacity_of_the_planners_own_engine_is_found_again() -> None:
    """The engine that meets a calibration of 1.65 a second at 2 s, asked for its capacity, in simulated time."""
    stack = read(load(Path(__file__).resolve().parents[4] / "Pulumi.dev.yaml").config)
    model = stack.models[0]
    assert model.capacity is not None
    stated = model.capacity
    engine_of = engine_model(stack, model)

    async def measure(rate: float) -> Step:
        wait = first_token_p95(engine_of, stated.prompt_tokens, stated.output_tokens, rate)
        good = wait <= model.slo.ttft_seconds
        return Step(rate, rate, wait, 1500, 0, stated.prompt_tokens, stated.output_tokens, good)

    answer = asyncio.run(search(measure, model.slo.ttft_seconds, Limits(start=0.5)))
    assert answer.requests_per_second == pytest.approx(stated.requests_per_second, rel=0.06)
