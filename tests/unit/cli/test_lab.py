"""`headroom lab stop` and `start`, as far as they go without a lab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab.control.layout import Layout
from lab.control.state import State, save

PROJECT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", ["stop", "start"])
@pytest.mark.parametrize(
    ("there", "said"),
    [(True, "has no component 'prometheus'. It has: none"), (False, "Start one with `headroom lab up`")],
)
def test_what_is_not_there_is_neither_stopped_nor_started(
    tmp_path: Path, command: str, there: bool, said: str
) -> None:
    if there:
        save(Layout(tmp_path), State())
    words = ["lab", command, "prometheus", "--state", str(tmp_path if there else tmp_path / "none")]
    ran = subprocess.run(
        [sys.executable, "-m", "cli", *words], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
