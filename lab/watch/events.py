"""What happened between two samples, in words."""

from collections.abc import Iterator
from typing import Literal

from lab.watch.figures import Figures, ModelSample, PoolSample, Sample, Source

EventKind = Literal[
    "phase", "load", "desired", "ready", "queue", "autoscaler", "created", "joined", "gone", "source", "note"
]
"""phase: a stretch of the run begins, and the text names it; load: the load begins or ends."""
NOT_IN = ("asked", "launching")
"""States of a node that is not in the cluster."""
SOURCES: dict[Source, str] = {"prometheus": "Prometheus", "kubernetes": "the API server"}


class Event(Figures):
    """``of`` is the model or pool; ``value`` is the count or the seconds that the text tells, where it tells one."""

    at: float
    kind: EventKind
    text: str
    of: str = ""
    value: float | None = None


def between(before: Sample, after: Sample, queue_targets: dict[str, float]) -> Iterator[Event]:
    """The events of one step. ``queue_targets`` are waiting requests a replica, by model."""
    yield from _sources(before, after)
    for new in after.models:
        old = before.model_named(new.name)
        if old is not None:
            yield from _model(after.at, old, new, queue_targets.get(new.name))
    olds = {pool.name: pool for pool in before.pools}
    for pool in after.pools:
        if pool.name in olds:
            yield from _pool(after.at, olds[pool.name], pool)


def _sources(before: Sample, after: Sample) -> Iterator[Event]:
    for source, name in SOURCES.items():
        lost, found = source not in before.problems, source not in after.problems
        if lost and not found:
            text = f"no data from {name}: {after.problems[source]}"
            yield Event(at=after.at, kind="source", of=source, text=text)
        elif found and not lost:
            yield Event(at=after.at, kind="source", of=source, text=f"{name} is back")


def _model(at: float, old: ModelSample, new: ModelSample, target: float | None) -> Iterator[Event]:
    if old.desired is not None and new.desired is not None and old.desired != new.desired:
        text = f"{new.name} desired {old.desired} -> {new.desired}"
        yield Event(at=at, kind="desired", of=new.name, text=text, value=new.desired)
    if target is not None and new.waiting is not None and old.waiting is not None:
        limit = target * max(1, new.desired or 0)
        if old.waiting <= limit < new.waiting:
            text = f"{new.name} queue {new.waiting:.0f}, above its target of {limit:g}"
            yield Event(at=at, kind="queue", of=new.name, text=text, value=new.waiting)
    if new.trouble != old.trouble and new.ready is not None:
        text = f"{new.name} autoscaler: {new.trouble}" if new.trouble else f"{new.name} autoscaler acts again"
        yield Event(at=at, kind="autoscaler", of=new.name, text=text)


def _pool(at: float, old: PoolSample, new: PoolSample) -> Iterator[Event]:
    if old.nodes is None or new.nodes is None:
        return
    held, holds = {node.name for node in old.nodes}, {node.name for node in new.nodes}
    joined = {node.name for node in old.nodes if node.state not in NOT_IN}
    joins = {node.name for node in new.nodes if node.state not in (*NOT_IN, "leaving")}
    if created := len(holds - held):
        yield _counted(at, "created", new.name, created)
    if arrived := len(joins - joined):
        yield _counted(at, "joined", new.name, arrived)
    if gone := len(held - holds):
        yield _counted(at, "gone", new.name, gone)


def _counted(at: float, kind: EventKind, pool: str, count: int) -> Event:
    words = {"created": ("NodeClaim", "created"), "joined": ("node", "joined"), "gone": ("node", "ended")}
    noun, verb = words[kind]
    text = f"{count} {noun}{'s' if count != 1 else ''} {verb}"
    return Event(at=at, kind=kind, of=pool, text=text, value=count)


def merged(last: Event, new: Event, seconds: float) -> Event | None:
    """One event for two counts of one wave, such as NodeClaims seen in two samples; else None."""
    same = (last.kind, last.of) == (new.kind, new.of) and new.kind in ("created", "joined", "gone")
    if not same or new.at - last.at > seconds or last.value is None or new.value is None:
        return None
    return _counted(new.at, new.kind, new.of, int(last.value + new.value))
