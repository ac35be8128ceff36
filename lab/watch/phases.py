"""The stretches of a run: as the caller named them, or as the replicas show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lab.watch.events import Event
from lab.watch.figures import Sample
from lab.watch.history import series

BURST, STEADY, DOWN = "burst", "steady", "scale-down"


@dataclass(frozen=True)
class Phase:
    """A named stretch; moments in seconds of the epoch."""

    name: str
    start: float
    end: float


def phases(samples: Sequence[Sample], events: Sequence[Event], model: str) -> list[Phase]:
    """The phases that events name, else those found in the replicas; none where nothing happened."""
    end = samples[-1].at
    named = [(event.text, event.at) for event in events if event.kind == "phase" and event.at <= end]
    begun = named or _found(samples, model)
    ends = [*(start for _, start in begun[1:]), end][: len(begun)]
    return [Phase(name, start, until) for (name, start), until in zip(begun, ends, strict=True)]


def burst_start(samples: Sequence[Sample], events: Sequence[Event], model: str) -> float | None:
    """When the burst began: the phase of that name, else the one in which the desired replicas first rose."""
    known = phases(samples, events, model)
    called = next((phase.start for phase in known if phase.name.startswith(BURST)), None)
    rise = next((at for at, before, now in _steps(samples, model) if now > before), None)
    if called is not None or rise is None:
        return called
    return max((phase.start for phase in known if phase.start <= rise), default=rise)


def _steps(samples: Sequence[Sample], model: str) -> list[tuple[float, float, float]]:
    """Each change of the desired replicas: its moment, before, after."""
    known = [
        (sample.at, value)
        for sample, value in zip(samples, series(samples, model, "desired"), strict=True)
        if value is not None
    ]
    return [(at, before, now) for (_, before), (at, now) in pairwise(known) if before != now]


def _found(samples: Sequence[Sample], model: str) -> list[tuple[str, float]]:
    """Burst from the first rise of the desired replicas until as many are ready; scale-down from their first fall."""
    moments = [sample.at for sample in samples]
    desired, ready = series(samples, model, "desired"), series(samples, model, "ready")
    steps = _steps(samples, model)
    rise = next((at for at, before, now in steps if now > before), None)
    if rise is None:
        return []
    found = [(BURST, rise)]
    most = max(value for value in desired if value is not None)
    served = next(
        (at for at, value in zip(moments, ready, strict=True) if at > rise and (value or 0) >= most), None
    )
    if served is not None:
        found.append((STEADY, served))
    fall = next((at for at, before, now in steps if now < before and at > found[-1][1]), None)
    if fall is not None:
        found.append((DOWN, fall))
    return found
