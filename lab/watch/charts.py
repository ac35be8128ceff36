"""The charts of a run, one above the other on one time axis."""

import math
from collections.abc import Sequence
from itertools import pairwise

from lab.watch import words
from lab.watch.events import Event
from lab.watch.figures import Sample
from lab.watch.history import series
from lab.watch.loads import Loads
from lab.watch.phases import phases
from planner.report.chart import Line, Span, plot
from specs.offered import target_rate
from specs.settings.model import Model

AXIS_SECONDS = 60
"""The axis ends at a whole one, so that its quarters are whole numbers too."""
Values = Sequence[float | None]


def timeline(
    samples: Sequence[Sample],
    events: Sequence[Event],
    loads: Loads,
    name: str,
    model: Model | None,
) -> str:
    """All charts; phases shaded, and where callers waited too long."""
    start = samples[0].at
    moments = [sample.at - start for sample in samples]
    end = max(1.0, AXIS_SECONDS * math.ceil(moments[-1] / AXIS_SECONDS))
    spans = [
        Span(phase.name, max(0.0, phase.start - start), phase.end - start)
        for phase in phases(samples, events, name)
    ]
    sent = [loads.sent_rate(sample.at) for sample in samples]
    first = [loads.first_p95(sample.at) for sample in samples]
    slo = model.slo.ttft_seconds if model else None
    late = _late(moments, first if loads.results else series(samples, name, "ttft_p95"), slo)

    def chart(title: str, *lines: Line, shaded: Sequence[tuple[float, float]] = ()) -> str:
        shown = [line for line in lines if any(value is not None for value in line.values)]
        return plot(title, moments, end, shown, shaded, spans=spans, axis=words.span) if shown else ""

    return (
        chart(
            "Requests a second",
            Line("sent by the callers", "demand", sent, stepped=False),
            Line("taken by the routers", "desired", series(samples, name, "rate"), stepped=False),
            Line("forecast", "forecast", _rates(series(samples, name, "forecast"), model), stepped=False),
        )
        + chart(
            "Replicas and nodes",
            Line("demand", "demand", series(samples, name, "demand"), stepped=False),
            Line("desired", "desired", series(samples, name, "desired")),
            Line("ready", "ready", series(samples, name, "ready")),
            Line("nodes of all models", "nodes", _nodes(samples)),
        )
        + chart(
            "Waiting requests",
            Line("in the engines' queues", "queue", series(samples, name, "waiting")),
            Line("held by the routers", "forecast", series(samples, name, "held")),
        )
        + chart(
            "p95 time to first token, seconds",
            Line("seen by the callers", "queue", first, stepped=False),
            Line("told by the engines", "desired", series(samples, name, "ttft_p95"), stepped=False),
            Line("promised", "nodes", [slo] * len(samples)),
            shaded=late,
        )
        + chart("Dollars an hour", Line("GPU nodes", "demand", [sample.usd_per_hour for sample in samples]))
    )


def _rates(replicas: Values, model: Model | None) -> Values:
    """Replicas as the requests a second that they are planned for; nothing without a measured capacity."""
    if model is None or model.capacity is None:
        return [None] * len(replicas)
    rate = target_rate(model)
    return [None if value is None else value * rate for value in replicas]


def _nodes(samples: Sequence[Sample]) -> Values:
    return [None if sample.nodes is None else len(sample.nodes) for sample in samples]


def _late(moments: Sequence[float], firsts: Values, slo: float | None) -> list[tuple[float, float]]:
    """Stretches in which the p95 time to first token exceeds what was promised."""
    found: list[tuple[float, float]] = []
    for (start, end), value in zip(pairwise(moments), firsts, strict=False):
        if slo is None or value is None or value <= slo:
            continue
        if found and found[-1][1] >= start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
