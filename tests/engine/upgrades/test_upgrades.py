"""Today's program over the states that earlier versions left: what an upgrade replaces, and what it must not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from ruamel.yaml import YAML

from lab.cloud.outcome import Outcome
from tests.engine.upgrades.replay import replayed
from tests.engine.upgrades.stored import load, names
from tests.engine.upgrades.verdict import lost, removed

EXPECTED = cast(
    Mapping[str, Mapping[str, str]],
    YAML(typ="safe", pure=True).load(Path(__file__).with_name("expected.yaml").read_text(encoding="utf-8")),
)


@dataclass(frozen=True)
class Upgrade:
    """A stored state's name and the preview of today's program over it."""

    state: str
    outcome: Outcome


@pytest.fixture(scope="module", params=names())
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cli: Path) -> Upgrade:
    """One preview a state, for all tests of it."""
    state: str = request.param
    return Upgrade(state, replayed(load(state), tmp_path_factory.mktemp("upgrade"), cli))


def test_a_configuration_that_was_accepted_still_is(upgrade: Upgrade) -> None:
    assert upgrade.outcome.ok, upgrade.outcome.problems


def test_nothing_that_holds_data_is_replaced_or_deleted(upgrade: Upgrade) -> None:
    assert lost(upgrade.outcome.steps) == []


def test_what_is_replaced_or_deleted_is_what_was_reviewed(upgrade: Upgrade) -> None:
    """An entry that is no longer needed fails too. `python -m tests.engine.upgrades.show` tells the properties."""
    assert removed(upgrade.outcome.steps) == sorted(EXPECTED[upgrade.state])


def test_every_state_is_reviewed_and_every_removal_has_its_reason() -> None:
    assert sorted(EXPECTED) == names()
    assert [reason for entries in EXPECTED.values() for reason in entries.values() if not reason] == []
