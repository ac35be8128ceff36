"""Goals B1 and B2: a burst from one replica to nine."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import numpy as np

from benchmarks.replay.table import Row
from benchmarks.replay.workloads import CAPACITY, stack
from planner.replay.policy import Policy, policy
from planner.replay.simulate import replay_policy
from planner.traces import of_rates
from specs.settings import Settings
from specs.stages import lead_seconds

WANTED = 9
BEFORE_SECONDS = 1200
PHASES = 20
CONTROLLER_SECONDS = 1.5


def ready_seconds(settings: Settings, wanted: Policy) -> float:
    """Mean over phases of the seconds from the burst to nine ready replicas."""
    rates = np.array([0.5] * (BEFORE_SECONDS // 60) + [WANTED * CAPACITY * 0.95] * 20)
    found: list[float] = []
    for seed in range(PHASES):
        result = replay_policy(settings, of_rates("burst", rates, 60), wanted, mode="fluid", seed=seed)
        line = result.timeline
        if line is None:
            raise ValueError("a burst needs a timeline")
        when = (m for m, ready in zip(line.moments, line.ready, strict=True) if ready >= WANTED)
        found.append(next(when, result.duration_seconds) - BEFORE_SECONDS)
    # The timeline has a sample a sync, so each time is half a sync late on average.
    return mean(found) - settings.cluster.hpa_sync_seconds / 2


def burst_rows() -> list[Row]:
    """Cold, with nodes launched, and warm, with spare nodes for all nine."""
    rows: list[Row] = []
    for tier, spares, most_share in (("cold", 0, 0.75), ("warm", WANTED - 1, 0.60)):
        settings = stack(most=18, scaling={"warmSpares": spares}, replicas={"min": 1, "max": 10})
        model = settings.models[0]
        theirs = policy(settings, model, "published", WANTED)
        ours = ready_seconds(settings, policy(settings, model, "ours", WANTED))
        published = ready_seconds(settings, replace(theirs, spares=spares))
        scrape = settings.platform.prometheus.scrape_seconds
        least = scrape / 2 + settings.cluster.hpa_sync_seconds / 2 + CONTROLLER_SECONDS
        least += lead_seconds(settings, model)
        rows.append(
            Row("B1", f"{tier}, 1 to 9", f"{ours:.0f} s", f"{least:.0f} s by sum", ours / least, 1.15)
        )
        words = f"published {published:.0f} s"
        rows.append(Row("B2", f"{tier}, 1 to 9", f"{ours:.0f} s", words, ours / published, most_share))
    return rows
