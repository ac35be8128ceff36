"""What docs/runbook.md tells an operator to type works, section by section, on one lab."""

import contextlib
import os
import subprocess
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from lab import tools
from lab.doctor.patients import on_lab
from lab.stage.stage import Stage, open_stage
from tests.lab.runbook.blocks import PROJECT, Block, of_page

FACTOR = 0.05
LAB = [block for block in of_page() if block.mark == "lab"]
SECTIONS = list(dict.fromkeys(block.section for block in LAB))


@pytest.fixture(scope="package")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Mapping[str, str]]:
    """The environment of an operator: the local stack on a lab, the tools, the variables that the page sets first.

    `PWD` is a folder with the headroom command in it.
    """
    folder = tmp_path_factory.mktemp("runbook")
    (folder / "headroom").symlink_to(PROJECT / "headroom")
    found = tools.ensure(["kubectl", "promtool"])
    stage = open_stage(folder / "lab", "local", factor=FACTOR)
    try:
        outcome = stage.up()
        assert outcome.ok, outcome.problems
        _settle(stage)
        path = os.pathsep.join([*(str(tool.parent) for tool in found.values()), os.environ["PATH"]])
        yield {
            **os.environ,
            "PATH": path,
            "PWD": str(folder),
            "KUBECONFIG": str(stage.plane.kubeconfig),
            "PROMETHEUS": stage.plane.url("prometheus"),
            "NS": "llm-serving",
            "MODEL": "llama3-8b",
            "POOL": "inference",
            "LAB": str(stage.plane.state_dir),
        }
    finally:
        stage.close()


def _settle(stage: Stage) -> None:
    """Waits until Prometheus and the HPA have looked once: the page begins with a look at a stack that runs."""
    patient = on_lab(stage.plane.state_dir, stage.stack, stage.settings)
    with contextlib.closing(patient):
        for _ in range(60):
            if patient.examined().verdict != "fail":
                return
            time.sleep(1)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_commands_of_a_section_work(desk: Mapping[str, str], section: str) -> None:
    for block in (block for block in LAB if block.section == section):
        _run(block, desk)


def _run(block: Block, desk: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.script],
        cwd=Path(desk["PWD"]),
        env=dict(desk),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    told = f"docs/runbook.md:{block.line} ({block.section})\n{done.stdout}"
    assert done.returncode == 0, told
    assert not [text for text in block.expected if text not in done.stdout], told
