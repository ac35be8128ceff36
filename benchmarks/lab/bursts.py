"""Goals L1, L2, B1 and B2 in the lab: a burst from one replica to nine, this program's defaults beside the commonly
published configuration, each on a pool of its own in one lab, phase after phase, begun at random moments.

    python -m benchmarks.lab.bursts --phases 20            # seconds of detection: starts take a fiftieth
    python -m benchmarks.lab.bursts --phases 2 --factor 1  # planned seconds: to nine ready
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
from rich.console import Console

from benchmarks.lab.staged import staged
from benchmarks.replay.table import Row, save, show
from lab.load import Asking, Closed, of_stack
from lab.scenario.kinds import NODE_CLAIM
from lab.scenario.model import Watched, claims, pool_of
from lab.scenario.timeline import Timeline
from lab.stage.stage import Stage
from specs.stages import detect_seconds, tiers

REPLICAS, CLIENTS = 9, 96
"""Of 96 clients 24 still wait when nine engines serve eight each: above every target, so nine stay wanted."""
OURS, PUBLISHED = "llama3-8b", "published"
PATIENCE = 1800.0
_POLL_SECONDS = 0.25
_WAITING = "vllm:num_requests_waiting{"
_DOWN = {"pods": 9, "periodSeconds": 15, "stabilizationSeconds": 60}
"""Quicker than in production, so that the phases follow each other."""


@dataclass(frozen=True)
class Burst:
    """Seconds of one phase, from the queue's first look above its target: to the last NodeClaim, and to nine ready."""

    claims: float
    ready: float
    rounds: int


def overrides() -> Mapping[str, Any]:
    """Two models alike but for their scaling."""
    same = {
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
        "maxNumSeqs": 8,
        "replicas": {"min": 1, "max": REPLICAS},
        "capacity": {"requestsPerSecond": 2, "promptTokens": 60, "outputTokens": 50},
        "drain": {"preStopSeconds": 3, "shutdownSeconds": 60},
        "ingress": {"enabled": False},
    }
    published = {
        "strategy": "queue",
        "queueThreshold": 2,
        "kvCacheThreshold": 0.85,
        "scaleUp": {"pods": 1, "percent": 100, "periodSeconds": 15},
        "scaleDown": _DOWN,
    }
    pools = [
        {
            "name": name,
            "families": ["g6", "g5"],
            "gpuLimit": 12,
            "consolidation": {"policy": "WhenEmpty", "afterSeconds": 5},
        }
        for name in ("inference", "other")
    ]
    return {
        "headroom:gpuPools": pools,
        "headroom:gpuBudget": {"maxGpus": 24},
        "headroom:models": [
            {"name": "mistral-7b", "enabled": False},
            {**same, "name": OURS, "pool": "inference", "scaling": {"scaleDown": _DOWN}},
            {**same, "name": PUBLISHED, "pool": "other", "scaling": published},
        ],
    }


def phase(stage: Stage, timeline: Timeline, watched: Watched, chance: random.Random) -> Burst:
    """One burst of one model, begun at a random moment of the sync, and the way back to one replica."""
    calm(timeline, watched)
    time.sleep(chance.uniform(0.0, stage.settings.cluster.hpa_sync_seconds))
    load = of_stack(
        stage.settings,
        stage.plane.kubeconfig,
        Closed(clients=CLIENTS, seconds=PATIENCE),
        model=watched.model.name,
        seed=chance.randrange(1 << 30),
        asking=Asking(prompt_tokens=60, output_tokens=50, stream_share=0.1, spread=False),
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
        if seen.key not in before and pool_of(seen.body) == watched.model.pool
    }
    wanted = [change.value for change in watched.wanted(since=begun) if change.value > 1]
    load.stop()
    load.wait()
    rounds = wanted.index(REPLICAS) + 1
    return Burst(max(fresh.values()) - queued, served - queued, rounds)


def calm(timeline: Timeline, one: Watched) -> None:
    """Waits until the model has one engine, ready, and its pool one node."""
    timeline.until(
        lambda: len(one.engines()) == len(one.engines(ready=True)) == 1,
        PATIENCE,
        f"one replica of {one.model.name}",
    )
    timeline.until(lambda: len(claims(timeline, one.model.pool)) == 1, PATIENCE, "one node")


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
    table = [
        Row(
            "L1",
            f"queue to last claim, {count}",
            text(ours[0]),
            text(least_claims),
            ours[0] / least_claims,
            1.25,
        ),
        Row("L2", f"beside published, {count}", text(ours[0]), text(theirs[0]), ours[0] / theirs[0], 0.45),
    ]
    if stage.factor == 1:  # with shorter starts the lab's own seconds would be most of what is measured
        table += [
            Row(
                "B1", f"cold, 1 to 9, {count}", text(ours[1]), text(least_ready), ours[1] / least_ready, 1.15
            ),
            Row("B2", f"cold, 1 to 9, {count}", text(ours[1]), text(theirs[1]), ours[1] / theirs[1], 0.75),
        ]
    return table


def main() -> None:
    """Runs the phases of both side by side and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--phases", type=int, default=20)
    parser.add_argument("--factor", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    console = Console()
    with staged(overrides(), asked.factor) as up:
        stage, timeline = up.stage, up.timeline

        def phases(one: Watched) -> list[Burst]:
            chance, found = random.Random(f"{asked.seed}/{one.model.name}"), list[Burst]()  # noqa: S311
            for number in range(asked.phases):
                found.append(phase(stage, timeline, one, chance))
                console.print(f"{number + 1}/{asked.phases} {one.model.name}: {found[-1]}", highlight=False)
            return found

        both = [Watched(timeline, one) for one in stage.settings.active_models]
        with ThreadPoolExecutor(len(both)) as pool:
            found = {one.model.name: bursts for one, bursts in zip(both, pool.map(phases, both), strict=True)}
        table = rows(stage, found)
    show(table, console)
    if asked.json:
        save(table, asked.json)


if __name__ == "__main__":
    main()
