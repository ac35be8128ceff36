"""A burst from one replica to nine, by this program's defaults and as commonly published, on one pool of nodes."""

from dataclasses import dataclass

import pytest

from lab.load import Closed, LoadResult
from lab.scenario.model import Watched, claims
from tests.lab.scenarios.theatre import Theatre, model

REPLICAS = 9
CLIENTS = 96
POOLS = ()
MODELS = (
    model("ours", replicas={"min": 1, "max": REPLICAS}),
    # Waiting queue 2, KV cache 0.85, +100 % in 15 s: the configuration of most public guides.
    model(
        "published",
        replicas={"min": 1, "max": REPLICAS},
        scaling={
            "strategy": "queue",
            "queueThreshold": 2,
            "kvCacheThreshold": 0.85,
            "scaleUp": {"pods": 1, "percent": 100, "periodSeconds": 15},
        },
    ),
)


@dataclass(frozen=True)
class Burst:
    """Both models once all replicas of both served. ``gpus``: what the pool held then and may hold at most."""

    ours: Watched
    published: Watched
    results: tuple[LoadResult, LoadResult]
    nodes: list[str]
    """Nodes of the engines of both."""
    gpus: int
    limit: int


def play(theatre: Theatre) -> Burst:
    """The same clients at both models; they stay until all replicas serve."""
    ours, published = theatre.watched("ours"), theatre.watched("published")
    both = (ours, published)
    loads = [theatre.load(one.model.name, Closed(clients=CLIENTS, seconds=1800), stream=0.1) for one in both]
    for one in both:
        theatre.until(lambda one=one: len(one.engines(ready=True)) == REPLICAS, f"nine of {one.model.name}")
    nodes = [pod["spec"]["nodeName"] for one in both for pod in one.engines(ready=True)]
    held = len(claims(theatre.timeline, "inference"))
    for load in loads:
        load.stop()
    limit = theatre.stage.settings.pool("inference").gpu_limit
    return Burst(ours, published, (loads[0].wait(600), loads[1].wait(600)), nodes, held, limit)


@pytest.fixture
def burst(played: Burst) -> Burst:
    """What was seen."""
    return played


def _steps(watched: Watched) -> list[int]:
    """Replicas wanted, from the one of the quiet time to all."""
    wanted = [change.value for change in watched.wanted()]
    return wanted[wanted.index(1) : wanted.index(REPLICAS) + 1]


def test_a_burst_is_answered_with_nine_replicas_in_one_round(burst: Burst) -> None:
    assert _steps(burst.ours) == [1, REPLICAS]


def test_the_published_configuration_needs_four_rounds_for_the_same_burst(burst: Burst) -> None:
    assert _steps(burst.published) == [1, 2, 4, 8, REPLICAS]


def test_two_models_share_a_pool_within_its_limit(burst: Burst) -> None:
    assert len(set(burst.nodes)) == len(burst.nodes) == 2 * REPLICAS
    assert 2 * REPLICAS <= burst.gpus <= burst.limit


def test_a_burst_loses_no_request(burst: Burst) -> None:
    for result in burst.results:
        assert (result.lost, result.completed) == (0, result.sent), result.by_cause
