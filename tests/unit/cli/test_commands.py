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


@pytest.mark.parametrize("moment", ["while it loads", "while it works"])
def test_ctrl_c_ends_with_130_and_no_traceback(moment: str) -> None:
    program = "import sys, signal, runpy; sys.argv = ['headroom', *sys.argv[1:]];"
    if moment == "while it loads":  # the signal comes with the first import of the command's own
        program += """
class Finder:
    def find_spec(self, name, *rest):
        if name == "cli.app":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
    else:
        program += """
import specs.checks
specs.checks.examine = lambda *_: signal.raise_signal(signal.SIGINT)
"""
    program += "\nrunpy.run_module('cli', run_name='__main__')"
    ran = subprocess.run(
        [sys.executable, "-c", program, "check", "--stack", "dev"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 130
    assert "Traceback" not in ran.stderr


def test_a_full_disk_behind_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "cli", "check", "--stack", "dev", "--json"],
            cwd=PROJECT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr.strip() == "headroom: No space left on device"
