"""The largest rate that one replica serves within its SLO, by a bounded search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from planner.calibrate.result import Calibration, Step, refused

Measure = Callable[[float], Awaitable[Step]]
"""Offers a rate in requests a second for a while."""


@dataclass(frozen=True)
class Limits:
    """Where the search begins and what it may not exceed. Rates in requests a second."""

    start: float = 1.0
    least: float = 0.05
    most: float = 200.0
    steps: int = 12
    precision: float = 0.05
    """The search ends when the two bounds are this share apart."""


async def search(measure: Measure, slo: float, limits: Limits | None = None) -> Calibration:
    """Double until a step misses the SLO, halve until one meets it, then close in between the two by the geometric
    mean. Raises CalibrationError when even the least rate misses it.
    """
    bounds = limits or Limits()
    steps: list[Step] = []
    good: Step | None = None
    bad: float | None = None
    rate = min(max(bounds.start, bounds.least), bounds.most)
    while len(steps) < bounds.steps:
        step = await measure(rate)
        steps.append(step)
        if step.within:
            good = step if good is None or step.offered > good.offered else good
        else:
            bad = rate if bad is None else min(bad, rate)
        following = _following(rate, good, bad, bounds)
        if following is None:
            break
        rate = following
    if good is None:
        worst = steps[-1]
        raise refused(
            "slo.ttftSeconds",
            f"{slo:g}, while {worst.offered:.3g} requests a second have a p95 of {worst.ttft_p95:.2f} s"
            f" ({worst.failed} of {worst.requests} failed)",
            "a time to first token that one replica can meet",
            "raise the SLO, use faster GPUs, or see whether the endpoint serves anything else",
        )
    return Calibration(
        requests_per_second=min(good.offered, good.served) if good.served > 0 else good.offered,
        prompt_tokens=good.prompt_tokens,
        output_tokens=good.output_tokens,
        ttft_p95=good.ttft_p95,
        slo=slo,
        bound="measured" if bad is not None else "atLeast",
        source="load",
        steps=tuple(steps),
    )


def _following(rate: float, good: Step | None, bad: float | None, bounds: Limits) -> float | None:
    """The next rate; None when the answer is known."""
    if bad is None:
        return min(rate * 2, bounds.most) if rate < bounds.most else None
    if good is None:
        return max(rate / 2, bounds.least) if rate > bounds.least else None
    if bad / good.offered <= 1 + bounds.precision:
        return None
    return (bad * good.offered) ** 0.5
