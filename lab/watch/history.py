"""The samples and events of a run so far, and what they add up to."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.watch.events import Event, between, merged
from lab.watch.figures import ModelSample, Sample, Source

ModelFigure = Literal[
    "rate",
    "held",
    "waiting",
    "running",
    "demand",
    "forecast",
    "ttft_p95",
    "desired",
    "ready",
    "pending",
    "leaving",
]

KEPT_SAMPLES = 3600
KEPT_EVENTS = 500
WAVE_SECONDS = 10.0
"""Counts that follow each other this closely are one wave: Karpenter launches in batches."""


@dataclass
class _Rise:
    """A raise of the desired replicas that is not yet served."""

    at: float
    goal: int
    origin: int


class History:
    """Fed with samples in order. Counts dollars and GPU-hours of the GPU nodes from its first sample on."""

    def __init__(self, queue_targets: dict[str, float] | None = None) -> None:
        self.samples: deque[Sample] = deque(maxlen=KEPT_SAMPLES)
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self.usd = 0.0
        self.gpu_hours = 0.0
        self._queue_targets = queue_targets or {}
        self._rises: dict[str, _Rise] = {}
        self._rates = (0.0, 0)
        self._seen: dict[Source, float] = {}

    @property
    def last(self) -> Sample | None:
        """The newest sample."""
        return self.samples[-1] if self.samples else None

    @property
    def seconds(self) -> float:
        """From the first sample that is kept to the last."""
        return self.samples[-1].at - self.samples[0].at if self.samples else 0.0

    def silence(self, source: Source, now: float) -> float | None:
        """Seconds since a source last gave something; None when it never did."""
        return None if source not in self._seen else now - self._seen[source]

    def add(self, sample: Sample) -> list[Event]:
        """Takes the next sample in; what happened since the one before."""
        before = self.last
        found: list[Event] = []
        if before is not None:
            self._count(before.at, sample.at)
            found = list(between(self._filled(before), sample, self._queue_targets))
            for model in sample.models:
                found += self._served(sample.at, before.model_named(model.name), model)
        if sample.usd_per_hour is not None:
            self._rates = (sample.usd_per_hour, sample.gpus or 0)
        for source in ("prometheus", "kubernetes"):
            if source not in sample.problems:
                self._seen[source] = sample.at
        self.samples.append(sample)
        for event in found:
            self.note(event)
        return found

    def note(self, event: Event) -> None:
        """Takes an event in, such as the begin of a phase."""
        for position in range(len(self.events) - 1, -1, -1):
            if event.at - self.events[position].at > WAVE_SECONDS:
                break
            one = merged(self.events[position], event, WAVE_SECONDS)
            if one is not None:
                self.events[position] = one
                return
        self.events.append(event)

    def of_model(self, name: str, figure: ModelFigure) -> Sequence[float | None]:
        """One figure of a model in all samples."""
        return series(self.samples, name, figure)

    def _count(self, before: float, now: float) -> None:
        # A source that is away does not stop the meter: what ran last is taken to run still.
        hours = max(0.0, now - before) / 3600
        usd, gpus = self._rates
        self.usd += usd * hours
        self.gpu_hours += gpus * hours

    def _filled(self, before: Sample) -> Sample:
        """The last sample with what the API server last said, so that nothing is missed while it is away."""
        if "kubernetes" not in before.problems:
            return before
        known = next((one for one in reversed(self.samples) if "kubernetes" not in one.problems), None)
        if known is None:
            return before
        models = tuple(
            model.model_copy(update={name: getattr(old, name) for name in ("desired", "ready", "trouble")})
            if (old := known.model_named(model.name))
            else model
            for model in before.models
        )
        return before.model_copy(update={"models": models, "pools": known.pools})

    def _served(self, at: float, old: ModelSample | None, new: ModelSample) -> list[Event]:
        """An event when a raise is fully ready; a raise before that moves the goal, not the start."""
        if new.desired is None or new.ready is None:
            return []
        rise = self._rises.get(new.name)
        if old is not None and old.desired is not None and new.desired > old.desired:
            rise = _Rise(rise.at if rise else at, new.desired, rise.origin if rise else old.desired)
            self._rises[new.name] = rise
        if rise is None:
            return []
        if new.desired < rise.goal:
            del self._rises[new.name]
            return []
        if new.ready < rise.goal:
            return []
        del self._rises[new.name]
        text = f"{new.name} {rise.goal} ready, {at - rise.at:.0f} s after desired rose from {rise.origin}"
        return [Event(at=at, kind="ready", of=new.name, text=text, value=at - rise.at)]


def told(events: Iterable[Event]) -> list[Event]:
    """Events in the order of time, those of one wave as one; as a watch shows them."""
    history = History()
    for event in sorted(events, key=lambda one: one.at):
        history.note(event)
    return list(history.events)


def series(samples: Iterable[Sample], name: str, figure: ModelFigure) -> list[float | None]:
    """One figure of a model, sample by sample."""
    found = [sample.model_named(name) for sample in samples]
    return [None if model is None else getattr(model, figure) for model in found]
