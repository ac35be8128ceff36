"""The command line: exit status, streams, JSON, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]


def headroom(*words: str, cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_accepted_stack_ends_with_0_and_its_problems_are_an_empty_list() -> None:
    ran = headroom("check", "--stack", "prod", "--json")
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["problems"] == []


def test_a_refused_stack_ends_with_2_and_tells_problems_on_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(
        "config: {'headroom:gpuPools': [], 'headroom:gpuBudget': {maxGpus: 0}, 'headroom:models': []}"
    )
    ran = headroom("check", "--stack-file", str(path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("gpuBudget.maxGpus: 0; ")


def test_json_of_a_refused_stack_has_the_four_keys_of_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text("config: {'headroom:modles': []}")
    ran = headroom("check", "--stack-file", str(path), "--json")
    assert ran.returncode == 2
    for problem in json.loads(ran.stdout)["problems"]:
        assert set(problem) == {"path", "given", "allowed", "fix"}


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["check", "--stack", "prod", "--stack-file", "x"],
        ["check", "--stack", "nowhere"],
        ["check", "--stack-file", "/nonexistent.yaml"],
        ["check", "--no-such-option"],
        ["render", "--stack-file", "/"],
        ["preview", "--stack", "../dev"],
        ["no-such-command"],
    ],
    ids=" ".join,
)
def test_wrong_words_end_with_2_and_one_line(words: list[str]) -> None:
    ran = headroom(*words)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_render_of_a_refused_stack_ends_with_2(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text("config: {'headroom:models': 3}")
    assert headroom("render", "--stack-file", str(path), "--json").returncode == 2


def test_show_prints_every_default() -> None:
    ran = headroom("check", "--stack", "dev", "--show")
    assert "pollingSeconds: 5" in ran.stdout
