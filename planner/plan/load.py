"""A typical month of one model: a trace where one is given, else a diurnal day that fills replicas.max at its peak."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planner.generator import generate
from planner.plan.prices import HOURS_A_MONTH
from planner.replay import ReplayResult, run
from planner.traces import Trace
from specs.offered import most_replicas, target_rate
from specs.settings.model import Model
from specs.settings.stack import Settings

PROFILE = "diurnal"
PROFILE_DAYS = 1.0
PEAK_MINUTES = 60


@dataclass(frozen=True)
class Load:
    """Arrivals for one model; `scale` multiplies the trace's rate, `assumed` where no trace was given."""

    trace: Trace
    scale: float
    assumed: bool


@dataclass(frozen=True)
class Typical:
    """A month of 730 hours on that load. Node-hours count from launch to termination; `bound_hours` is what a
    clairvoyant would have used, `spare_hours` the warm spares' part.
    """

    source: str
    node_hours: float
    bound_hours: float
    spare_hours: float
    launches: float
    violation_share: float | None
    """Share of the time callers wait longer than the SLO; None without a measured capacity."""
    assumed: bool = True
    """No trace was given: the load is the built-in day."""


def load_of(settings: Settings, model: Model, trace: Trace | None, scale: float) -> Load:
    """The given trace, or the profile scaled so that its busiest hour asks for every replica."""
    if trace is not None:
        return Load(trace, scale, assumed=False)
    profile = _profile()
    wanted = 1.0 if model.capacity is None else most_replicas(settings, model) * target_rate(model)
    return Load(profile, wanted / _busiest(profile), assumed=True)


@cache
def _profile() -> Trace:
    """The built-in day at a mean of one request a second; one object, so that equal loads are known as such."""
    return generate(PROFILE, PROFILE_DAYS, 1.0)


def _rates(trace: Trace) -> NDArray[np.float64]:
    """Requests a second of each bin of the profile."""
    if trace.rates is None:
        raise ValueError(f"{trace.name} is not a rate trace")
    return trace.rates


def _busiest(trace: Trace) -> float:
    """Mean rate of the busiest hour."""
    window = np.ones(PEAK_MINUTES) / PEAK_MINUTES
    return float(np.convolve(_rates(trace), window, mode="valid").max())


def replayed(settings: Settings, model: Model, load: Load, seed: int = 0) -> ReplayResult:
    """The load through the model's own loop. Raises ReplayError, without a measured capacity among others."""
    return run(settings, load.trace, model.name, load.scale, seed, "fluid")


def typical(settings: Settings, model: Model, load: Load, result: ReplayResult | None = None) -> Typical:
    """A month of the load, from a replay (`result`, or a new one). Without a measured capacity the replicas simply
    follow the profile between min and max, as there is nothing to replay.
    """
    if model.capacity is None:
        return _followed(settings, model)
    result = result or replayed(settings, model, load)
    month = HOURS_A_MONTH * 3600 / result.duration_seconds
    spares = model.scaling.warm_spares * HOURS_A_MONTH
    return Typical(
        source=PROFILE if load.assumed else load.trace.name,
        node_hours=result.node_seconds / 3600 * month,
        bound_hours=result.bound_node_seconds / 3600 * month,
        spare_hours=spares,
        launches=result.launches * month,
        violation_share=result.violation_share,
        assumed=load.assumed,
    )


def _followed(settings: Settings, model: Model) -> Typical:
    profile = _profile()
    most = most_replicas(settings, model)
    wanted = np.ceil(_rates(profile) / _busiest(profile) * most)
    mean = float(np.clip(wanted, model.replicas.min, most).mean())
    spares = model.scaling.warm_spares * HOURS_A_MONTH
    hours = mean * HOURS_A_MONTH + spares
    # Each node that comes once a day for the peak is one launch.
    launches = (most - model.replicas.min) * HOURS_A_MONTH / 24
    return Typical(PROFILE, hours, mean * HOURS_A_MONTH, spares, launches, None)
