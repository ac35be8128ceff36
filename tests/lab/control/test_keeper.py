"""Crashes: every component of a full lab is killed and comes back by itself."""

from collections.abc import Callable
from typing import Any

import pytest

from lab.control.parts.registry import FULL
from lab.control.plane import Plane
from lab.control.report import status
from lab.control.single import kill


def _pid(full: Plane, name: str) -> int | None:
    return next(one.pid for one in status(full.state_dir).components if one.name == name)


@pytest.mark.parametrize("name", sorted(FULL - {"keeper"}))
def test_a_killed_component_comes_back_and_the_lab_is_well_again(
    full: Plane, name: str, eventually: Callable[..., Any]
) -> None:
    before = _pid(full, name)
    assert kill(full.state_dir, name)
    eventually(lambda: _pid(full, name) not in (None, before))
    eventually(lambda: status(full.state_dir).up)
