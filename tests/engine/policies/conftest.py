"""The Pulumi CLI and an empty stack for each engine test of the pack."""

import gc
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from lab.tools.build import find
from tests.engine.policies.engine import Engine
from tests.engine.policies.recorder import serving


@pytest.fixture(scope="session")
def cli() -> Path:
    """The Pulumi CLI: HEADROOM_PULUMI, PATH, or the tool cache."""
    stated = os.environ.get("HEADROOM_PULUMI") or shutil.which("pulumi")
    found = Path(stated) if stated else find("pulumi")
    if found is None:
        pytest.fail("no pulumi found: run `make tools`, put pulumi on PATH, or set HEADROOM_PULUMI")
    return found


@pytest.fixture
def engine(cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Engine]:
    """An empty stack; the pack's shebang finds this interpreter, the Automation API finds the CLI."""
    folders = [str(cli.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    with serving() as (recorder, port):
        yield Engine(tmp_path, port, recorder, cli)
    gc.collect()  # the loops that pulumi 3.272 automation/_server.py leaves open are reported here, not later
