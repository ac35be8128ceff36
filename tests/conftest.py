"""What every tier may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.tools import ensure


@pytest.fixture(scope="session")
def cli() -> Path:
    """The Pulumi CLI: HEADROOM_PULUMI, PATH, or built once; found before a test hides the user's home and with
    it the tool cache."""
    stated = os.environ.get("HEADROOM_PULUMI")
    return Path(stated) if stated else ensure(["pulumi"])["pulumi"]


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What shares a fixture that is slow to make runs in one worker: a lab's folder with a conftest.py, any other
    test's file.
    """
    tests = Path(__file__).parent
    for item in items:
        folder = item.path.parent
        shared = folder.is_relative_to(tests / "lab") and (folder / "conftest.py").exists()
        room = folder if shared else item.path
        item.add_marker(pytest.mark.xdist_group(room.relative_to(tests).with_suffix("").as_posix()))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuses a pytest under which xdist loses its groups: every lab was made twice, once in each worker."""
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("pytest-xdist does not group by xdist_group with this pytest; use the pins")
