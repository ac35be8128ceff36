"""Labs for the tests: one with the API alone, one with everything; each brought up once."""

import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from lightkube import Client

from lab.control.parts.registry import API, FULL
from lab.control.plane import Plane, down, up
from lab.control.settings import LabSettings


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Generator[Plane]:
    """etcd and the API server."""
    root = tmp_path_factory.mktemp("api") / "lab"
    try:
        yield up(root, API)
    finally:
        down(root)


@pytest.fixture(scope="package")
def full(tmp_path_factory: pytest.TempPathFactory) -> Generator[Plane]:
    """Everything; nodes join two seconds after their launch."""
    root = tmp_path_factory.mktemp("full") / "lab"
    try:
        yield up(root, FULL, settings=LabSettings(launch_seconds=2))
    finally:
        down(root)


@pytest.fixture
def client(full: Plane) -> Generator[Client]:
    """A client of the full lab."""
    with full.client() as made:
        yield made


def eventually(holds: Callable[[], Any], seconds: float = 90.0) -> Any:
    """What ``holds`` returns once it is true; fails the test when it is not within the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.3)
    pytest.fail(f"not so within {seconds:.0f} s: {holds.__qualname__}")


@pytest.fixture(name="eventually")
def eventually_fixture() -> Callable[..., Any]:
    """``eventually`` for the tests: modules of a test folder can't import one another."""
    return eventually


@pytest.fixture
def lab_folder(tmp_path: Path) -> Generator[Path]:
    """A folder for a lab of the test's own, ended with it."""
    yield tmp_path / "lab"
    down(tmp_path / "lab")
