"""`pulumi up` in the middle of a burst rolls every replica; then an operator takes two nodes away at once."""

from dataclasses import dataclass

import pytest

from lab.cloud.outcome import Outcome
from lab.load import LoadResult
from lab.scenario.cloud import delete_claim
from lab.scenario.kinds import Body
from lab.scenario.model import Watched, claim_of
from tests.lab.scenarios.theatre import Theatre, evenly, model

POOLS = ()
ROLLED = model(
    "rolled",
    replicas={"min": 1, "max": 3},
    # As long as the rate's middle window, as Prometheus misses scrapes on a machine with two cores while the engine
    # runs, and a gap of eight seconds at the end of that window reads as an eighth less load. The default is 300.
    scaling={"scaleDown": {"pods": 1, "periodSeconds": 5, "stabilizationSeconds": 60}},
)
MODELS = (ROLLED,)
CHANGED = {"extraArgs": ["--seed", "7"]}


@dataclass(frozen=True)
class Rollout:
    """Moments are seconds of time.monotonic()."""

    rolled: Watched
    began: float
    outcome: Outcome
    ended: float
    drained: float
    before: list[Body]
    after: list[Body]
    end: list[Body]
    result: LoadResult


def play(theatre: Theatre) -> Rollout:
    """Load for three replicas all the while."""
    rolled = theatre.watched("rolled")
    load = theatre.load("rolled", evenly(4.2, 900))
    theatre.until(lambda: len(rolled.engines(ready=True)) == 3, "three engines")
    before, began = rolled.engines(), theatre.clock()
    outcome = theatre.up_with(ROLLED | CHANGED)
    old = {pod["metadata"]["uid"] for pod in before}
    theatre.until(
        lambda: len(new := rolled.engines(ready=True)) == 3 and not old & {_uid(pod) for pod in new},
        "three new engines",
    )
    after, ended = rolled.engines(), theatre.clock()
    taken = [claim_of(theatre.timeline, pod) for pod in after][:2]
    for claim in taken:
        assert claim is not None
        delete_claim(theatre.stage.plane, claim)
    drained = {_uid(pod) for pod in after[:2]}
    theatre.until(
        lambda: len(end := rolled.engines(ready=True)) == 3 and not drained & {_uid(pod) for pod in end},
        "three engines on other nodes",
    )
    end, moment = rolled.engines(), theatre.clock()
    load.stop()
    return Rollout(rolled, began, outcome, ended, moment, before, after, end, load.wait(600))


def _uid(pod: Body) -> str:
    return pod["metadata"]["uid"]


@pytest.fixture
def rollout(played: Rollout) -> Rollout:
    """What was seen."""
    return played


def _least(rollout: Rollout, since: float, until: float) -> int:
    return min(one.value for one in rollout.rolled.ready(since) if one.at <= until)


def test_pulumi_up_in_a_burst_does_not_reset_the_replicas(rollout: Rollout) -> None:
    assert rollout.outcome.ok, rollout.outcome.problems
    assert rollout.outcome.changes.get("update", 0) >= 1
    told = [one.value for one in rollout.rolled.replicas(rollout.began) if one.at <= rollout.ended]
    assert told == [3]


def test_a_rolling_update_under_load_replaces_every_replica_and_loses_nothing(rollout: Rollout) -> None:
    assert not {_uid(pod) for pod in rollout.before} & {_uid(pod) for pod in rollout.after}
    assert all(CHANGED["extraArgs"][0] in str(pod["spec"]["containers"][0]["args"]) for pod in rollout.after)
    assert _least(rollout, rollout.began, rollout.ended) >= 3
    assert (rollout.result.lost, rollout.result.completed) == (0, rollout.result.sent), (
        rollout.result.by_cause
    )


def test_two_nodes_drained_at_once_take_one_replica_at_a_time(rollout: Rollout) -> None:
    assert _least(rollout, rollout.ended, rollout.drained) >= 2
    kept = {_uid(pod) for pod in rollout.after} & {_uid(pod) for pod in rollout.end}
    assert kept == {_uid(rollout.after[2])}
