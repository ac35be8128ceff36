"""Traces made on the spot, each from a seed: for tests, for a first look, and as hold-outs.

diurnal: a daily wave; weekly: the same with quiet weekends; bursty: waves with random jumps that last minutes;
season-free: a random walk without any hour of day; step: one jump from a quarter of the mean to 1.75 times it;
constant: no change at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from planner.traces import Trace, TraceError, of_rates
from specs.problems import Problem, shown

Kind = Literal["diurnal", "weekly", "bursty", "season-free", "step", "constant"]
KINDS: tuple[str, ...] = get_args(Kind)
BIN_SECONDS = 60
PREFIX = "generate:"
MOST_DAYS = 60
Floats = NDArray[np.float64]


def generate(kind: str, days: float = 7.0, mean_rps: float = 5.0, seed: int = 0) -> Trace:
    """A rate trace in one-minute bins with the given mean. The same arguments give the same bytes.

    Raises TraceError for an unknown kind or a size out of range.
    """
    shape = _SHAPES.get(kind)
    problems: list[Problem] = []
    if shape is None:
        problems.append(Problem("kind", shown(kind), f"one of {', '.join(KINDS)}", "choose one of these"))
    if not 0 < days <= MOST_DAYS:
        problems.append(Problem("days", shown(days), f"above 0, at most {MOST_DAYS}", "choose fewer days"))
    if not 0 < mean_rps <= 1e6:
        problems.append(Problem("rps", shown(mean_rps), "above 0, at most 1000000", "choose another mean"))
    if problems or shape is None:
        raise TraceError(problems)
    minutes = np.arange(max(2, round(days * 1440)), dtype=np.float64)
    rates = np.maximum(shape(minutes, np.random.default_rng([seed, KINDS.index(kind)])), 0.02)
    return of_rates(f"{kind}-{days:g}d-seed{seed}", rates * (mean_rps / rates.mean()), BIN_SECONDS)


def from_text(text: str, seed: int = 0) -> Trace:
    """`generate:KIND[:DAYS[:RPS]]`. Raises TraceError."""
    kind, *numbers = text.removeprefix(PREFIX).split(":")
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = [0.0, 0.0, 0.0]
    if len(values) > 2:
        allowed = f"{PREFIX}KIND[:DAYS[:RPS]]"
        raise TraceError([Problem("--trace", shown(text), allowed, f"e.g. {PREFIX}diurnal:7:5")])
    return generate(kind, *values, seed=seed)


def _day(minutes: Floats, source: np.random.Generator) -> Floats:
    hour = minutes / 60 % 24
    shift = source.uniform(-1, 1)
    wave = (
        1.0 + 0.75 * np.sin((hour - 9 + shift) / 24 * 2 * np.pi) + 0.2 * np.sin((hour - 4) / 12 * 2 * np.pi)
    )
    return wave * np.exp(_walk(len(minutes), 0.05, 60.0, source))


def _walk(count: int, sigma: float, memory_minutes: float, source: np.random.Generator) -> Floats:
    """A walk that forgets: standard deviation `sigma`, correlation time `memory_minutes`."""
    keep = float(np.exp(-1.0 / memory_minutes))
    steps = source.normal(0.0, sigma * np.sqrt(1 - keep**2), count)
    walk = np.empty(count)
    level = source.normal(0.0, sigma)
    for position in range(count):
        level = level * keep + steps[position]
        walk[position] = level
    return walk


def _week(minutes: Floats, source: np.random.Generator) -> Floats:
    weekend = (minutes // 1440 % 7) >= 5
    return _day(minutes, source) * np.where(weekend, 0.35, 1.0)


def _bursts(minutes: Floats, source: np.random.Generator) -> Floats:
    rate = _day(minutes, source)
    factor = np.ones(len(minutes))
    moment = 0.0
    while True:
        moment += source.exponential(150.0)
        if moment >= len(minutes):
            return rate * factor
        length = 3.0 + source.exponential(12.0)
        factor[int(moment) : int(moment + length) + 1] *= source.uniform(1.5, 3.0)


def _free(minutes: Floats, source: np.random.Generator) -> Floats:
    return np.exp(_walk(len(minutes), 0.5, 360.0, source) + _walk(len(minutes), 0.08, 10.0, source))


def _step(minutes: Floats, source: np.random.Generator) -> Floats:
    del source
    return np.where(minutes < len(minutes) / 2, 0.25, 1.75)


def _constant(minutes: Floats, source: np.random.Generator) -> Floats:
    del source
    return np.ones(len(minutes))


_SHAPES: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "diurnal": _day,
    "weekly": _week,
    "bursty": _bursts,
    "season-free": _free,
    "step": _step,
    "constant": _constant,
}
