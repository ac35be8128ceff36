"""Fewer callers: replicas leave while they serve, and empty nodes leave after their time."""

from dataclasses import dataclass
from datetime import datetime

import pytest

from lab.load import Closed, LoadResult
from lab.scenario.kinds import NODE_CLAIM, Body, is_leaving
from lab.scenario.model import Watched, claims, pool_of
from tests.lab.scenarios.theatre import Theatre, model

AFTER_SECONDS = 10
POOLS = (
    {
        "name": "quiet",
        "families": ["g6", "g5"],
        "capacityTypes": ["on-demand"],
        "gpuLimit": 5,
        "consolidation": {"afterSeconds": AFTER_SECONDS},
    },
)
MODELS = (
    model(
        "shrinking",
        pool="quiet",
        replicas={"min": 1, "max": 4},
        scaling={
            "strategy": "concurrency",
            "scaleDown": {"pods": 3, "periodSeconds": 5, "stabilizationSeconds": 5},
        },
    ),
)


@dataclass(frozen=True)
class Shrink:
    """``held``: requests that the fleet saw in engines that were already leaving."""

    shrinking: Watched
    few: float
    held: int
    many: LoadResult
    long: LoadResult
    left: list[Body]
    """NodeClaims that were taken away, as they were first seen leaving."""
    nodes: int


def play(theatre: Theatre) -> Shrink:
    """Many callers make four replicas; then only a few with long answers stay, spread over all four."""
    shrinking = theatre.watched("shrinking")
    long = theatre.load("shrinking", Closed(clients=6, seconds=600), output=120)
    many = theatre.load("shrinking", Closed(clients=30, seconds=600))
    theatre.until(lambda: len(shrinking.engines(ready=True)) == 4, "four engines")
    theatre.until(lambda: _spread(theatre), "long requests on every engine")
    few = theatre.clock()
    many.stop()
    held = theatre.until(lambda: _held(theatre, shrinking), "requests in engines that leave")
    theatre.until(lambda: len(shrinking.engines()) == 1, "one engine")
    theatre.until(lambda: len(claims(theatre.timeline, "quiet")) == 1, "one node")
    long.stop()
    leaving = {
        one.key: one.body
        for one in reversed(theatre.timeline.seen(NODE_CLAIM, since=few))
        if is_leaving(one.body) and pool_of(one.body) == "quiet"
    }
    nodes = len(claims(theatre.timeline, "quiet"))
    return Shrink(shrinking, few, held, many.wait(600), long.wait(600), list(leaving.values()), nodes)


def _spread(theatre: Theatre) -> bool:
    loads = [pod["load"] for pod in theatre.engines("shrinking")]
    return len(loads) == 4 and min(loads) > 0


def _held(theatre: Theatre, shrinking: Watched) -> int:
    staying = {pod["metadata"]["name"] for pod in shrinking.engines()}
    return sum(pod["load"] for pod in theatre.engines("shrinking") if pod["name"] not in staying)


@pytest.fixture
def shrink(played: Shrink) -> Shrink:
    """What was seen."""
    return played


def test_a_scale_down_under_load_loses_nothing(shrink: Shrink) -> None:
    assert shrink.held > 0
    assert shrink.shrinking.wanted()[-1].value == 1
    for result in (shrink.many, shrink.long):
        assert (result.lost, result.completed) == (0, result.sent), result.by_cause


def test_empty_nodes_leave_once_they_were_quiet_for_the_configured_time(shrink: Shrink) -> None:
    assert shrink.nodes == 1
    assert len(shrink.left) == 3
    # Karpenter's own clock, in whole seconds.
    quiet = [
        _seconds(claim["metadata"]["deletionTimestamp"]) - _seconds(claim["status"]["lastPodEventTime"])
        for claim in shrink.left
    ]
    assert min(quiet) >= AFTER_SECONDS - 1, quiet


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
