"""When things happen in a replay, and what is noted on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from planner.replay.series import Sample

DEFAULT_START = datetime(2026, 1, 5, tzinfo=UTC)
"""Second 0 of a trace without a date: a Monday, 00:00 UTC."""


@dataclass(frozen=True)
class Clock:
    """Periods and phases in seconds, and the length of the replay."""

    duration: float
    scrape_seconds: float
    rule_seconds: float
    sync_seconds: float
    scrape_phase: float
    rule_phase: float
    sync_phase: float
    start: datetime = DEFAULT_START
    outages: Sequence[tuple[float, float]] = ()
    """Times in which Prometheus does not answer."""


@dataclass
class Timeline:
    """Samples for the report, one per `every` seconds."""

    every: float
    moments: list[float] = field(default_factory=list[float])
    desired: list[int] = field(default_factory=list[int])
    ready: list[int] = field(default_factory=list[int])
    nodes: list[int] = field(default_factory=list[int])
    demand: list[float] = field(default_factory=list[float])
    """Offered rate over the calibrated capacity: replicas at full use."""
    waiting: list[float] = field(default_factory=list[float])
    violating: list[float] = field(default_factory=list[float])
    """Violation seconds so far."""
    planned: list[Sample] = field(default_factory=list[Sample])
    """Replicas that headroom and forecast ask for, not rounded; None without such rules."""
