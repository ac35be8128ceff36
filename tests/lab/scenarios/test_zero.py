"""A model at zero: its first request is held until an engine serves, and it goes back to zero."""

from dataclasses import dataclass

import pytest

from lab.load import Closed, LoadResult
from lab.scenario.model import Watched
from tests.lab.scenarios.theatre import Theatre, model

POOLS = ()
MODELS = (
    model(
        "sleeper",
        replicas={"min": 0, "max": 2},
        scaling={"strategy": "concurrency", "cooldownSeconds": 5, "pollingSeconds": 1},
    ),
)


@dataclass(frozen=True)
class Sleep:
    """``asked`` and ``slept`` are moments of time.monotonic(): the request, and no engine any more after it."""

    sleeper: Watched
    asked: float
    first: LoadResult
    slept: float


def play(theatre: Theatre) -> Sleep:
    """Waits for zero, asks once, waits for zero again."""
    sleeper = theatre.watched("sleeper")
    theatre.until(lambda: not sleeper.engines(), "no engine")
    asked = theatre.clock()
    load = theatre.load("sleeper", Closed(clients=1, requests=1))
    first = load.wait(600)
    theatre.until(lambda: not sleeper.engines(), "no engine once more")
    return Sleep(sleeper, asked, first, theatre.clock())


@pytest.fixture
def sleep(played: Sleep) -> Sleep:
    """What was seen."""
    return played


def test_the_first_request_at_zero_is_held_and_answered(sleep: Sleep) -> None:
    assert (sleep.first.sent, sleep.first.completed) == (1, 1), sleep.first.by_cause
    serving = [change.value for change in sleep.sleeper.ready(sleep.asked)]
    assert serving[:2] == [0, 1]


def test_an_idle_model_goes_back_to_zero(sleep: Sleep) -> None:
    told = [one.value for one in sleep.sleeper.replicas(sleep.asked) if one.at <= sleep.slept]
    assert told == [0, 1, 0]
