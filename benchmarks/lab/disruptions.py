"""P8: requests lost at scale-down, rollout and spot notice, in the lab under load; the goal is 0 of 10,000.

`python -m benchmarks.lab.disruptions [--requests 10000] [--json]` brings a lab and one model up and goes round
through the three disruptions until so many requests were sent. Every answer is checked to its end.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.lab.staged import staged
from lab.load import Asking, Closed, Load, LoadResult, Open, Routers
from lab.scenario.cloud import spot_notice
from lab.scenario.kinds import Body
from lab.scenario.model import Watched, claim_of
from lab.scenario.timeline import Timeline
from lab.stage.stage import Stage

NAME: Final = "served"
LEAST, MOST = 2, 5
FACTOR: Final = 0.02
"""Share of the planned start-up seconds that nodes, images, weights and engines take."""
RATE: Final = 16.0
"""Requests a second all the while."""
CLIENTS: Final = 80
PATIENCE: Final = 600.0
SECONDS: Final = 6 * 3600.0


@dataclass
class Tally:
    """What was done, and what the callers had of it."""

    done: Counter[str] = field(default_factory=Counter[str])
    results: list[LoadResult] = field(default_factory=list[LoadResult])

    @property
    def causes(self) -> Counter[str]:
        """Lost requests by cause."""
        found: Counter[str] = Counter()
        for one in self.results:
            found.update(one.by_cause)
        return found


def overrides(seed: int) -> dict[str, Any]:
    """The local stack with this model alone; another `seed` is another version of its engines."""
    off = [{"name": name, "enabled": False} for name in ("llama3-8b", "mistral-7b")]
    served: dict[str, Any] = {
        "name": NAME,
        "pool": "inference",
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "maxNumSeqs": 8,
        "capacity": {"requestsPerSecond": 10, "promptTokens": 60, "outputTokens": 30},
        "drain": {"preStopSeconds": 5, "shutdownSeconds": 60},
        "ingress": {"enabled": False},
        "replicas": {"min": LEAST, "max": MOST},
        "extraArgs": ["--seed", str(seed)],
        "scaling": {
            "strategy": "concurrency",
            "scaleDown": {"pods": 2, "periodSeconds": 5, "stabilizationSeconds": 10},
        },
    }
    return {
        "headroom:gpuPools": [{"name": "inference", "consolidation": {"afterSeconds": 15}}],
        "headroom:models": [*off, served],
    }


class Rehearsal:
    """The stack under load, and what is done to it."""

    def __init__(self, stage: Stage, timeline: Timeline, tally: Tally) -> None:
        self._stage = stage
        self._timeline = timeline
        self._tally = tally
        self._model = next(one for one in stage.settings.active_models if one.name == NAME)
        self._served = Watched(timeline, self._model)
        self._seed = 0

    def load(self, profile: Closed | Open) -> Load:
        """Starts requests, four of five streamed."""
        asking = Asking(prompt_tokens=60, output_tokens=30)
        routers = Routers(self._stage.plane.kubeconfig, self._model.namespace, NAME, PATIENCE)
        made = Load(routers, self._model.api_name, profile, asking=asking)
        made.start()
        return made

    def scale_down(self) -> None:
        """A burst that goes: replicas come, and leave under the load that stays."""
        burst = self.load(Closed(clients=CLIENTS, seconds=SECONDS))
        self._until(lambda: len(self._served.engines(ready=True)) >= MOST, "all replicas")
        burst.stop()
        self._tally.results.append(burst.wait(PATIENCE))
        self._until(lambda: len(self._served.engines()) < MOST, "the first replica to leave")
        self._tally.done["scale-down"] += 1

    def rollout(self) -> None:
        """`pulumi up` with another engine argument."""
        old = {pod["metadata"]["uid"] for pod in self._served.engines()}
        self._seed += 1
        outcome = self._stage.up(overrides(self._seed))
        if not outcome.ok:
            raise RuntimeError("; ".join(outcome.problems))
        self._until(lambda: not old & {pod["metadata"]["uid"] for pod in self._served.engines()}, "a rollout")
        self._tally.done["rollout"] += 1

    def notice(self) -> None:
        """A spot notice for the node of a replica that serves."""
        pods: list[Body] = self._until(lambda: self._served.engines(ready=True), "a replica")
        claim = claim_of(self._timeline, pods[0])
        if claim is None:
            return
        spot_notice(self._stage.plane, claim)
        gone = pods[0]["metadata"]["uid"]
        self._until(
            lambda: (
                len(ready := self._served.engines(ready=True)) >= LEAST
                and gone not in {pod["metadata"]["uid"] for pod in ready}
            ),
            "a replacement after the notice",
        )
        self._tally.done["spot notice"] += 1

    def _until(self, holds: Any, what: str) -> Any:
        return self._timeline.until(holds, PATIENCE, what)


def measure(requests: int, console: Console) -> Tally:
    """Goes round until so many requests were sent; the lab is gone afterwards."""
    tally = Tally()
    with staged(overrides(0), FACTOR, progress=console.log) as up:
        _rounds(Rehearsal(up.stage, up.timeline, tally), tally, requests, console)
    return tally


def _rounds(rehearsal: Rehearsal, tally: Tally, requests: int, console: Console) -> None:
    times = [number / RATE for number in range(int(RATE * SECONDS))]
    steady = rehearsal.load(Open(name="even", times=times, seconds=SECONDS))
    while steady.counts.sent + sum(one.sent for one in tally.results) < requests:
        for act in (rehearsal.scale_down, rehearsal.notice, rehearsal.rollout):
            act()
            counts = steady.counts
            sent = counts.sent + sum(one.sent for one in tally.results)
            lost = counts.lost + sum(one.lost for one in tally.results)
            console.log(f"{act.__name__}: {sent} sent, {lost} lost")
    steady.stop()
    tally.results.append(steady.wait(PATIENCE))


def main() -> int:
    """0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    console = Console(stderr=True)
    tally = measure(asked.requests, console)
    sent, lost = sum(one.sent for one in tally.results), sum(one.lost for one in tally.results)
    answered = sum(one.completed for one in tally.results)
    if asked.json:
        found = {"sent": sent, "completed": answered, "lost": lost, "lostByCause": dict(tally.causes)}
        sys.stdout.write(json.dumps(found | {"disruptions": dict(tally.done)}, indent=1) + "\n")
        return 1 if lost else 0
    table = Table(title="P8: requests lost under disruption")
    for name in ("disruptions", "sent", "answered", "lost", "threshold", "pass"):
        table.add_column(name)
    done = ", ".join(f"{count} x {name}" for name, count in tally.done.items())
    table.add_row(done, str(sent), str(answered), str(lost), "0", "no" if lost else "yes")
    Console().print(table)
    for cause, count in tally.causes.items():
        Console().print(f"{cause}: {count}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
