"""The plan of a soak: the seed decides all of it, every kind comes, and there is room between actions."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from lab.control.parts import registry
from lab.soak.actions import COMPONENTS
from lab.soak.plan import CLIENTS, GAPS, LAST_SECONDS, ROUND, plan_of
from specs.problems import SettingsError

PROJECT = Path(__file__).parents[4]
MODELS = ("llama3-8b", "qwen")
HOUR = plan_of(7, 60, MODELS, ["asleep"])


def test_another_process_with_another_hash_seed_draws_the_same_plan_byte_for_byte() -> None:
    words = (
        "import sys; from lab.soak.plan import plan_of;"
        "sys.stdout.write(plan_of(7, 60, ('llama3-8b', 'qwen'), ['asleep']).text())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    told = subprocess.run(
        [sys.executable, "-c", words], cwd=PROJECT, env=environment, capture_output=True, check=True
    )
    assert told.stdout == HOUR.text().encode()


def test_another_seed_draws_another_plan() -> None:
    assert plan_of(8, 60, MODELS).text() != plan_of(7, 60, MODELS).text()


def test_a_longer_soak_begins_as_the_shorter_one() -> None:
    short = plan_of(7, 3, MODELS, ["asleep"])
    assert HOUR.actions[: len(short.actions)] == short.actions


def test_between_two_actions_there_is_the_room_that_the_first_needs() -> None:
    for one, following in pairwise(HOUR.actions):
        least, most = GAPS[one.kind]
        assert least - 0.1 <= following.at - one.at <= most + 0.1, one


def test_nothing_happens_at_the_very_end() -> None:
    assert max(one.at for one in HOUR.actions) <= 60 * 60 - LAST_SECONDS


def test_every_kind_comes_once_a_round() -> None:
    kinds = [one.kind for one in HOUR.actions]
    assert sorted(kinds[: len(ROUND)]) == sorted(ROUND)


def test_every_component_is_killed_within_the_hour() -> None:
    assert {one.target for one in HOUR.actions if one.kind == "component-crash"} == set(COMPONENTS)


def test_the_components_that_are_killed_are_parts_of_a_whole_lab() -> None:
    assert set(COMPONENTS) <= set(registry.closure(registry.FULL))


def test_a_model_that_may_sleep_sees_bursts_alone() -> None:
    assert {one.kind for one in HOUR.actions if one.target == "asleep"} == {"burst"}


def test_bursts_stay_within_their_bounds() -> None:
    clients = [one.clients for one in HOUR.actions if one.kind == "burst"]
    assert min(clients) >= CLIENTS[0]
    assert max(clients) <= CLIENTS[1]


@pytest.mark.parametrize("minutes", [0, 0.9, -3, 1441, float("nan"), float("inf")])
def test_minutes_out_of_bounds_are_refused(minutes: float) -> None:
    with pytest.raises(SettingsError) as refused:
        plan_of(0, minutes, MODELS)
    assert [problem.path for problem in refused.value.problems] == ["--minutes"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(SettingsError) as refused:
        plan_of(0, 0, [], ["asleep"])
    assert [problem.path for problem in refused.value.problems] == ["--minutes", "headroom:models"]
