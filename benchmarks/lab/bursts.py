"""Goals L1, L2, B1, B2 and S4 in the lab: a burst from one replica to nine, this program's defaults beside the
commonly published configuration, on one pool of one lab, phase after phase.

    python -m benchmarks.lab.bursts --phases 20            # seconds of detection: starts take a fiftieth
    python -m benchmarks.lab.bursts --phases 2 --factor 1  # planned seconds: bursts to ready, beside the replay
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
from rich.console import Console

from benchmarks.lab.staged import staged
from benchmarks.replay.table import Row, save, show
from lab.load import Closed, of_stack
from lab.scenario.kinds import NODE_CLAIM
from lab.scenario.model import Watched, claims
from lab.scenario.timeline import Timeline
from lab.stage.stage import Stage
from specs.stages import detect_seconds, tiers

REPLICAS, CLIENTS = 9, 50
OURS, PUBLISHED = "llama3-8b", "published"
PATIENCE = 1800.0
_POLL_SECONDS = 0.25
_WAITING = "vllm:num_requests_waiting{"
_FAST = {"pods": 9, "periodSeconds": 15, "stabilizationSeconds": 0}


@dataclass(frozen=True)
class Burst:
    """Seconds of one phase, from the queue's first look above its target: to the last NodeClaim, and to nine ready."""

    claims: float
    ready: float
    rounds: int


def overrides() -> Mapping[str, Any]:
    """Two models alike but for their scaling; quick on the way down, so that the phases follow each other."""
    same = {
        "pool": "inference",
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
        "replicas": {"min": 1, "max": REPLICAS},
        "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
        "drain": {"preStopSeconds": 3, "shutdownSeconds": 60},
        "ingress": {"enabled": False},
    }
    published = {
        "strategy": "queue",
        "queueThreshold": 2,
        "kvCacheThreshold": 0.85,
        "scaleUp": {"pods": 1, "percent": 100, "periodSeconds": 15},
        "scaleDown": _FAST,
    }
    return {
        "headroom:gpuPools": [
            {"name": "inference", "gpuLimit": 24, "consolidation": {"policy": "WhenEmpty", "afterSeconds": 5}}
        ],
        "headroom:gpuBudget": {"maxGpus": 24},
        "headroom:models": [
            {"name": "mistral-7b", "enabled": False},
            {**same, "name": OURS, "scaling": {"scaleDown": _FAST}},
            {**same, "name": PUBLISHED, "scaling": published},
        ],
    }


def phase(stage: Stage, timeline: Timeline, watched: Watched, chance: random.Random) -> Burst:
    """One burst of one model, begun at a random moment of the sync, and the way back to one replica."""
    calm(timeline, [watched])
    time.sleep(chance.uniform(0.0, stage.settings.cluster.hpa_sync_seconds))
    load = of_stack(
        stage.settings,
        stage.plane.kubeconfig,
        Closed(clients=CLIENTS, seconds=PATIENCE),
        model=watched.model.name,
        seed=chance.randrange(1 << 30),
    )
    before = set(timeline.now(NODE_CLAIM))
    begun = time.monotonic()
    load.start()
    queued = _queued(watched, begun)
    timeline.until(lambda: len(watched.engines(ready=True)) == REPLICAS, PATIENCE, "nine ready replicas")
    ready = watched.ready(since=begun)
    served = next(change.at for change in ready if change.value == REPLICAS)
    fresh = {
        seen.key: seen.at
        for seen in reversed(timeline.seen(NODE_CLAIM, since=begun, until=served))
        if seen.key not in before
    }
    wanted = [change.value for change in watched.wanted(since=begun) if change.value > 1]
    load.stop()
    load.wait()
    rounds = wanted.index(REPLICAS) + 1
    return Burst(max(fresh.values()) - queued, served - queued, rounds)


def calm(timeline: Timeline, models: Sequence[Watched]) -> None:
    """Waits until each model has one engine and one node."""
    timeline.until(
        lambda: all(len(one.engines()) == len(one.engines(ready=True)) == 1 for one in models),
        PATIENCE,
        "one replica of each model",
    )
    pool = models[0].model.pool
    timeline.until(lambda: len(claims(timeline, pool)) <= 2, PATIENCE, "a node for each replica and no more")


def _queued(watched: Watched, begun: float) -> float:
    """The moment at which the engine's waiting queue first exceeds its target."""
    address = watched.engines(ready=True)[0]["status"]["podIP"]
    target = watched.model.scaling.queue_threshold
    with httpx2.Client(trust_env=False) as http:
        while time.monotonic() < begun + PATIENCE:
            lines = http.get(f"http://{address}:8000/metrics").text.splitlines()
            waiting = sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(_WAITING))
            if waiting > target:
                return time.monotonic()
            time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"the queue of {watched.model.name} stays below {target}")


def rows(stage: Stage, found: Mapping[str, Sequence[Burst]]) -> list[Row]:
    """The goals' figures."""
    settings = stage.settings
    cold = tiers(settings, settings.models[0])[0]
    detect = detect_seconds(settings)
    least_claims = detect - 0.5  # S/2 + P/2 + 1 s
    least_ready = detect + cold.start * stage.factor
    ours, theirs = (
        (median(one.claims for one in found[name]), median(one.ready for one in found[name]))
        for name in (OURS, PUBLISHED)
    )
    count = f"{len(found[OURS])} phases, starts x {stage.factor:g}"
    text = "{:.1f} s".format
    return [
        Row(
            "L1",
            f"queue to last claim, {count}",
            text(ours[0]),
            text(least_claims),
            ours[0] / least_claims,
            1.25,
        ),
        Row("L2", f"beside published, {count}", text(ours[0]), text(theirs[0]), ours[0] / theirs[0], 0.45),
        Row("B1", f"cold, 1 to 9, {count}", text(ours[1]), text(least_ready), ours[1] / least_ready, 1.15),
        Row("B2", f"cold, 1 to 9, {count}", text(ours[1]), text(theirs[1]), ours[1] / theirs[1], 0.75),
    ]


def main() -> None:
    """Runs the phases of both at the same time, one lab, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--phases", type=int, default=20)
    parser.add_argument("--factor", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    console = Console()
    found: dict[str, list[Burst]] = {OURS: [], PUBLISHED: []}
    with staged(overrides(), asked.factor) as up:
        stage, timeline = up.stage, up.timeline
        both = [Watched(timeline, one) for one in stage.settings.active_models]
        chances = {one.model.name: random.Random(f"{asked.seed}/{one.model.name}") for one in both}  # noqa: S311
        for number in range(asked.phases):
            calm(timeline, both)
            # One after the other: two bursts at once would share the machine, and the batches.
            for one in both:
                burst = phase(stage, timeline, one, chances[one.model.name])
                found[one.model.name].append(burst)
                console.print(f"{number + 1}/{asked.phases} {one.model.name}: {burst}", highlight=False)
        table = rows(stage, found)
    show(table, console)
    if asked.json:
        save(table, asked.json)


if __name__ == "__main__":
    main()
