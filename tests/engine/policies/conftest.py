"""The Pulumi CLI and an empty stack for each engine test of the pack."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.engine.policies.engine import Engine
from tests.engine.policies.recorder import serving


@pytest.fixture
def engine(cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Engine]:
    """An empty stack; the pack's shebang finds this interpreter, the Automation API finds the CLI."""
    folders = [str(cli.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with serving() as (recorder, port):
        yield Engine(tmp_path, port, recorder, cli)
    assert [left.name for left in scratch.glob("automation-*")] == []
    gc.collect()  # the loops that pulumi 3.272 automation/_server.py leaves open are reported here, not later
