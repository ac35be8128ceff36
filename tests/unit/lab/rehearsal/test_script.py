"""A rehearsal's phases follow each other, each with its own callers, and every request has its answer."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from lab.load import Load
from lab.rehearsal.phases import Phase, Seen, phases, quick, rehearsed, watchable
from lab.rehearsal.script import Script
from lab.stage.project import configuration
from lab.stage.stage import PROJECT
from specs import checks
from specs.settings.stack import Settings
from tests.unit.lab.load.servers import STREAMS, serving


def stack(overrides: Mapping[str, Any] | None = None) -> Settings:
    settings, findings = checks.examine(configuration(PROJECT, "local", overrides or {}))
    assert settings is not None
    assert not findings.problems
    return settings


def short(name: str, clients: int, *, replicas: int | None = None) -> Phase:
    return Phase(name=name, title=name, clients=clients, think=0.01, least=0.05, most=0.4, replicas=replicas)


@dataclass
class Played:
    """What a script did."""

    script: Script
    begun: list[str] = field(default_factory=list[str])
    loads: list[str] = field(default_factory=list[str])


async def play(plan: list[Phase], seen: Seen) -> Played:
    async with serving() as url:
        begun: list[str] = []
        loads: list[str] = []

        def load(phase: Phase) -> Load:
            loads.append(phase.name)
            return Load([url], "m", phase.profile, asking=STREAMS)

        script = Script(
            phases=plan, look=lambda: seen, note=lambda phase: begun.append(phase.name), loads=load
        )
        while not script.step():
            await asyncio.sleep(0.01)
        return Played(script, begun, loads)


def test_each_phase_begins_once_and_the_same_callers_go_on_without_a_pause() -> None:
    plan = [short("burst", 5), short("steady", 5), short("calm", 1)]
    played = asyncio.run(asyncio.wait_for(play(plan, Seen(desired=9, ready=9, nodes=9)), 20))
    assert played.begun == ["burst", "steady", "calm"]
    assert played.loads == ["burst", "calm"]
    assert [one.phase.name for one in played.script.passed] == played.begun


def test_every_request_is_answered_before_the_next_callers_come() -> None:
    plan = [short("burst", 4), short("calm", 1)]
    results = asyncio.run(asyncio.wait_for(play(plan, Seen(desired=1, ready=1, nodes=1)), 20)).script.results
    assert [one.sent for one in results] == [one.completed for one in results]
    assert all(one.sent > 0 and one.lost == 0 for one in results)


@pytest.mark.parametrize(("ready", "reached"), [(9, True), (8, False)])
def test_a_phase_that_ends_by_its_limit_says_that_its_goal_did_not_come(ready: int, reached: bool) -> None:
    plan = [short("burst", 1, replicas=9)]
    played = asyncio.run(asyncio.wait_for(play(plan, Seen(desired=9, ready=ready, nodes=9)), 20))
    assert [one.reached for one in played.script.passed] == [reached]


def test_nothing_known_of_the_cluster_ends_no_phase() -> None:
    phase = short("burst", 1, replicas=9)
    assert not phase.over(Seen(desired=None, ready=None, nodes=None), 0.2)
    assert phase.over(Seen(desired=9, ready=9, nodes=None), 0.2)


@pytest.mark.parametrize("changes", [quick, watchable])
def test_a_rehearsal_changes_the_way_down_alone_and_is_accepted(
    changes: Callable[[Settings], Mapping[str, Any]],
) -> None:
    usual, fast = stack(), stack(changes(stack()))
    before, after = rehearsed(usual), rehearsed(fast)
    assert after.scaling.scale_up == before.scaling.scale_up
    assert after.replicas == before.replicas
    assert after.scaling.scale_down.stabilization_seconds < before.scaling.scale_down.stabilization_seconds


def test_the_way_down_is_given_all_the_time_that_the_stack_states() -> None:
    settings = stack(watchable(stack()))
    calm = phases(settings, rehearsed(settings), factor=1.0, hold_seconds=60)[-1]
    # 120 s held, two steps of 30 s, 80 s of drain, 60 s of an empty node.
    assert calm.most >= 120 + 60 + 80 + 60
