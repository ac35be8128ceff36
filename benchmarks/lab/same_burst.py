"""S4 in the lab: the same arrivals through the replay and through the lab, planned seconds in both; the goal is that
the replicas wanted and the replicas ready come within one scrape and one HPA sync of each other.

    python -m benchmarks.lab.same_burst [--seed 0] [--json FILE]   # about 14 minutes
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.lab.bursts import OURS, PATIENCE, REPLICAS, calm
from benchmarks.lab.bursts import overrides as both_models
from benchmarks.lab.staged import staged
from benchmarks.replay.table import Row, save, show
from lab.load import LoadResult, Open, of_stack
from lab.scenario.model import Change, Watched
from lab.scenario.timeline import Timeline
from lab.stage.stage import Stage
from planner.replay.simulate import run
from planner.traces import Trace, of_requests

BEFORE_SECONDS, BURST_SECONDS = 240, 420
BEFORE_RATE, BURST_RATE = 1.0, 11.5
"""One replica's load, then that of nine (1.65 requests a second each, 0.8 of it used)."""
REPLAYS = 15
"""Each with its own phases of scrape and sync, which the lab has by chance too."""
SIZES = (1155, 211)


def overrides() -> dict[str, Any]:
    """This program's own model of the bursts alone, with the replay's usual mix."""
    capacity = {"requestsPerSecond": 1.65, "promptTokens": SIZES[0], "outputTokens": SIZES[1]}
    own = {"maxNumSeqs": 64, "capacity": capacity}
    found = both_models()
    models = [one | own if one["name"] == OURS else one for one in found["headroom:models"]]
    return {**found, "headroom:models": [one for one in models if one["name"] != "published"]}


def arrivals(seed: int) -> Trace:
    """Poisson arrivals with one step."""
    source = np.random.default_rng([seed, 17])
    spans = ((0, BEFORE_SECONDS, BEFORE_RATE), (BEFORE_SECONDS, BURST_SECONDS, BURST_RATE))
    drawn = [
        start + source.uniform(0, length, source.poisson(rate * length)) for start, length, rate in spans
    ]
    times = np.sort(np.concatenate(drawn))
    prompts, outputs = (np.full(len(times), size, dtype=np.int64) for size in SIZES)
    return of_requests(f"step-seed{seed}", times, prompts, outputs)


def in_the_lab(stage: Stage, timeline: Timeline, trace: Trace) -> tuple[dict[str, float], LoadResult]:
    """Seconds from the step of the load to each mark."""
    watched = Watched(timeline, stage.settings.active_models[0])
    calm(timeline, watched)
    times, prompts, outputs = trace.requests
    profile = Open(
        name=trace.name,
        times=times.tolist(),
        sizes=list(zip(prompts.tolist(), outputs.tolist(), strict=True)),
    )
    load = of_stack(stage.settings, stage.plane.kubeconfig, profile, model=OURS)
    load.start()
    step = time.monotonic() + BEFORE_SECONDS
    timeline.until(lambda: len(watched.engines(ready=True)) == REPLICAS, PATIENCE, "nine ready replicas")
    # What queued at the first engine meanwhile stays there for twenty minutes: no mark waits for it.
    load.stop(now=True)
    result = load.wait(PATIENCE)

    def at(changes: Sequence[Change], holds: Callable[[int], bool]) -> float:
        return next(one.at for one in changes if one.at > step and holds(one.value)) - step

    wanted, ready = watched.wanted(since=step), watched.ready(since=step)
    return {
        "more wanted": at(wanted, lambda value: value > 2),
        "all wanted": at(wanted, lambda value: value == REPLICAS),
        "all ready": at(ready, lambda value: value == REPLICAS),
    }, result


def in_the_replay(stage: Stage, trace: Trace, seed: int) -> dict[str, float]:
    """The same marks."""
    line = run(stage.settings, trace, OURS, seed=seed, mode="request").timeline
    assert line is not None

    def at(values: Sequence[int], holds: Callable[[int], bool]) -> float:
        found = zip(line.moments, values, strict=True)
        return (
            next(moment for moment, value in found if moment > BEFORE_SECONDS and holds(value))
            - BEFORE_SECONDS
        )

    return {
        "more wanted": at(line.desired, lambda value: value > 2),
        "all wanted": at(line.desired, lambda value: value == REPLICAS),
        "all ready": at(line.ready, lambda value: value == REPLICAS),
    }


def main() -> None:
    """Runs both and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--factor", type=float, default=1.0, help="for a trial: the replay keeps the planned seconds"
    )
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    console, trace = Console(), arrivals(asked.seed)
    with staged(overrides(), asked.factor) as found:
        stage = found.stage
        lab, result = in_the_lab(stage, found.timeline, trace)
    replays = [in_the_replay(stage, trace, seed) for seed in range(REPLAYS)]
    settings = stage.settings
    within = settings.platform.prometheus.scrape_seconds + settings.cluster.hpa_sync_seconds
    rows = [
        Row(
            "S4",
            f"{mark}, lab beside replay",
            f"{lab[mark]:.1f} s",
            f"{middle:.1f} s",
            abs(lab[mark] - middle),
            within,
        )
        for mark in lab
        for middle in [median(one[mark] for one in replays)]
    ]
    show(rows, console)
    console.print(f"{result.sent} requests until all were ready; ratio: seconds apart", highlight=False)
    if asked.json:
        save(rows, asked.json)


if __name__ == "__main__":
    main()
