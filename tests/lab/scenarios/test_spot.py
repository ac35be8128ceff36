"""A spot node is reclaimed with notice, another one dies without."""

from dataclasses import dataclass

import pytest

from lab.load import LoadResult
from lab.load.causes import CUT_BODY, ERROR_EVENT, RESET_BEFORE_HEADERS, RESET_MID_STREAM, UNFINISHED
from lab.scenario.cloud import Cut, power_off, spot_notice
from lab.scenario.kinds import Body
from lab.scenario.model import Watched, claim_of
from tests.lab.scenarios.theatre import Theatre, evenly, model

POOLS = ({"name": "spot", "families": ["g6", "g5"], "capacityTypes": ["spot"], "gpuLimit": 4},)
MODELS = (model("spotted", pool="spot", replicas={"min": 2, "max": 3}),)
CUTS = {RESET_MID_STREAM, CUT_BODY, UNFINISHED, ERROR_EVENT, RESET_BEFORE_HEADERS}


@dataclass(frozen=True)
class Reclaimed:
    """Node names and what the callers had."""

    spotted: Watched
    noticed: str
    busy: int
    """Requests in the engine when the notice came."""
    after_notice: list[Body]
    during_notice: LoadResult
    died: str
    cut: Cut
    after_death: list[Body]
    during_death: LoadResult


def play(theatre: Theatre) -> Reclaimed:
    """First the notice, then the death, each under its own load of long streams."""
    spotted, plane = theatre.watched("spotted"), theatre.stage.plane
    load = theatre.load("spotted", evenly(2, 900), output=100)
    victim = theatre.until(lambda: _busy(theatre, spotted), "two busy engines")
    busy = theatre.load_of("spotted", victim)
    claim = claim_of(theatre.timeline, victim)
    assert claim is not None
    spot_notice(plane, claim)
    after_notice = theatre.until(lambda: _replaced(spotted, victim), "a replacement after the notice")
    load.stop()
    during_notice = load.wait(600)

    load = theatre.load("spotted", evenly(2, 900), output=100)
    lost = theatre.until(lambda: _busy(theatre, spotted), "two busy engines again")
    claim = claim_of(theatre.timeline, lost)
    assert claim is not None
    cut = power_off(plane, claim)
    after_death = theatre.until(lambda: _replaced(spotted, lost), "a replacement after the death")
    load.stop()
    return Reclaimed(
        spotted=spotted,
        noticed=victim["spec"]["nodeName"],
        busy=busy,
        after_notice=after_notice,
        during_notice=during_notice,
        died=lost["spec"]["nodeName"],
        cut=cut,
        after_death=after_death,
        during_death=load.wait(600),
    )


def _busy(theatre: Theatre, spotted: Watched) -> Body | None:
    """An engine with four requests, while every other one that serves has some too."""
    ready = spotted.engines(ready=True)
    loads = {one["name"]: one["load"] for one in theatre.engines("spotted")}
    if len(ready) < 2 or min(loads.get(pod["metadata"]["name"], 0) for pod in ready) < 4:
        return None
    return ready[0]


def _replaced(spotted: Watched, gone: Body) -> list[Body]:
    ready = spotted.engines(ready=True)
    nodes = {pod["spec"]["nodeName"] for pod in ready}
    return ready if len(ready) >= 2 and gone["spec"]["nodeName"] not in nodes else []


@pytest.fixture
def reclaimed(played: Reclaimed) -> Reclaimed:
    """What was seen."""
    return played


def test_a_spot_notice_moves_the_replica_and_loses_nothing(reclaimed: Reclaimed) -> None:
    assert reclaimed.busy >= 4
    assert reclaimed.noticed not in {pod["spec"]["nodeName"] for pod in reclaimed.after_notice}
    result = reclaimed.during_notice
    assert (result.lost, result.completed) == (0, result.sent), result.by_cause


def test_a_node_that_dies_loses_exactly_what_was_on_it_and_is_replaced(reclaimed: Reclaimed) -> None:
    assert reclaimed.died not in {pod["spec"]["nodeName"] for pod in reclaimed.after_death}
    result = reclaimed.during_death
    assert reclaimed.cut.requests > 0
    assert result.lost == reclaimed.cut.requests, result.by_cause
    assert set(result.by_cause) <= CUTS
    assert result.completed == result.sent - result.lost
