"""A soak from its first action to its books, on a server and with a hand that only writes down."""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import jsonschema
from aiohttp import web
from rich.console import Console

from lab.load import Closed, Load
from lab.soak.actions import Action
from lab.soak.plan import Plan
from lab.soak.player import Player
from lab.soak.result import SoakResult
from lab.soak.stagehand import Done
from tests.unit.lab.load.servers import STREAMS, Behaviour, good, hang, serving

PROJECT = Path(__file__).parents[4]
SCHEMA = json.loads((PROJECT / "docs/json/soak.schema.json").read_text(encoding="utf-8"))
KILL = Action(at=0.0, kind="component-crash", target="karpenter")
UPDATE = Action(at=0.05, kind="unchanged-update", target="")
AGAIN = "headroom lab soak --minutes 1 --seed 3 --stack local"


@dataclass
class Hand:
    """Does what it is told to do."""

    act: Callable[[Action], Done] | None = None
    end: str | None = None
    loads: list[Load] = field(default_factory=list[Load])
    performed: list[Action] = field(default_factory=list[Action])

    def perform(self, action: Action) -> Done:
        self.performed.append(action)
        return self.act(action) if self.act else Done()

    def unwell(self) -> str | None:
        return self.end


def soak(
    hand: Hand, *, stream: Behaviour = good, stop: threading.Event | None = None, minutes: float = 0.005
) -> SoakResult:
    """Plays two actions; `stop` interrupts it once it is set."""
    plan = Plan(seed=3, minutes=minutes, actions=(KILL, UPDATE))

    told: list[str] = []

    async def scene() -> SoakResult:
        async with serving(stream) as url:
            load = Load([url], "m", Closed(clients=2, think=0.02, seconds=60), asking=STREAMS)
            player = Player(plan, hand, [load], told.append, breath=0.0)
            player.start()
            if stop is not None:
                await asyncio.to_thread(stop.wait, 10)
                assert await asyncio.to_thread(player.stop, 10)
            while not player.finished:
                await asyncio.sleep(0.01)
            return SoakResult.of(player, plan, "local", AGAIN)

    result = asyncio.run(asyncio.wait_for(scene(), 20))
    jsonschema.validate(result.as_json(), SCHEMA)
    return result


def text(result: SoakResult) -> str:
    out = StringIO()
    Console(file=out, width=200).print(result.view())
    return out.getvalue()


def test_a_soak_plays_its_actions_in_order_and_ends_well() -> None:
    hand = Hand()
    result = soak(hand)
    assert hand.performed == [KILL, UPDATE]
    assert result.sent == result.completed > 0
    assert result.ok
    assert "0 lost outside node deaths" in text(result)


def test_a_lost_request_that_no_death_explains_fails_the_soak_and_names_the_way_to_replay_it() -> None:
    lost = False

    async def once(request: web.Request, body: dict[str, object], response: web.StreamResponse) -> None:
        nonlocal lost
        if lost:
            await good(request, body, response)
        lost = True

    result = soak(Hand(), stream=once)
    assert [loss.before for loss in result.outside] == [KILL]
    assert not result.ok
    assert AGAIN in text(result)


def test_an_action_that_fails_is_a_problem_and_the_soak_goes_on() -> None:
    def act(action: Action) -> Done:
        if action is KILL:
            raise RuntimeError("no such component")
        return Done()

    hand = Hand(act)
    result = soak(hand)
    assert hand.performed == [KILL, UPDATE]
    assert result.problems == ("kill -9 of karpenter: RuntimeError: no such component",)
    assert not result.ok


def test_what_does_not_come_back_fails_the_soak() -> None:
    assert soak(Hand(end="karpenter is dead")).problems == ("in the end: karpenter is dead",)


def test_an_interrupt_gives_up_what_is_in_flight_and_keeps_the_books() -> None:
    begun = threading.Event()

    async def stuck(request: web.Request, body: dict[str, object], response: web.StreamResponse) -> None:
        begun.set()
        await hang()

    result = soak(Hand(), stream=stuck, stop=begun, minutes=1)
    assert result.interrupted
    assert result.ok
    assert (result.given_up, result.unanswered) == (result.sent, 0)
