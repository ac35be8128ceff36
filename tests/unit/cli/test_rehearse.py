"""`headroom rehearse --lab`, as far as it goes without a lab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lab.control.layout import Layout
from lab.control.settings import AwsSettings, LabSettings
from lab.control.state import State, save

PROJECT = Path(__file__).resolve().parents[3]


def test_the_lab_of_another_stack_is_refused_in_one_line_and_stays_as_it_is(tmp_path: Path) -> None:
    held = State(settings=LabSettings(aws=AwsSettings(cluster="headroom-dev")))
    save(Layout(tmp_path), held)
    words = ["rehearse", "--stack", "prod", "--lab", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "cli", *words], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "it holds the cluster headroom-dev" in " ".join(ran.stderr.split())
    assert State.model_validate_json(Layout(tmp_path).state.read_text()) == held
