"""Components made of a few lines of Python or shell."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from lab.control import process
from lab.control.component import Component, Health
from lab.control.process import Identity

NOWHERE = Health(url="http://127.0.0.1:9/")


@pytest.fixture
def started(tmp_path: Path) -> Generator[Callable[..., Identity]]:
    """Starts a shell script as a component; ends all that were started."""
    running: list[Identity] = []

    def start(script: str = "sleep 60") -> Identity:
        identity = process.start(
            Component(name="x", argv=("/bin/bash", "-c", script), health=NOWHERE), tmp_path / "x.log"
        )
        running.append(identity)
        return identity

    yield start
    process.stop(*((identity, 0.0) for identity in running))
