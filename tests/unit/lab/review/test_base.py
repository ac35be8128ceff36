"""The tree that a change is compared with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lab.review.base import tree
from specs.problems import SettingsError

PROJECT = Path(__file__).resolve().parents[4]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a folder of a repository, with one commit of before."""
    folder = tmp_path / "repository" / "serving"
    folder.mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: before\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "before"]):
        subprocess.run(["git", "-C", str(folder.parent), *words], check=True)
    (folder / "Pulumi.yaml").write_text("name: after\n")
    return folder


def test_a_commit_is_unpacked_and_goes_again(project: Path) -> None:
    with tree(project, "main") as base:
        assert (base.folder / "Pulumi.yaml").read_text() == "name: before\n"
        assert base.label.startswith("main (")
    assert not base.folder.exists()


def test_a_folder_is_taken_as_it_is(project: Path) -> None:
    with tree(project, str(project)) as base:
        assert base.folder == project
    assert (project / "Pulumi.yaml").exists()


@pytest.mark.parametrize("base", ["no-such-branch", "--output=/tmp/x", "HEAD^9", "", "/"])
def test_anything_else_is_refused_in_one_line(project: Path, base: str) -> None:
    with pytest.raises(SettingsError) as refusal, tree(project, base):
        pass
    [problem] = refusal.value.problems
    assert problem.path == "--base"


def test_the_recorded_cloud_leaves_specs_to_the_base_when_it_brings_the_base_up() -> None:
    """Loaded by either file, this tree's specs would run in place of the base's."""
    files = [*(PROJECT / "lab" / "cloud").rglob("*.py"), PROJECT / "lab" / "review" / "bring_up.py"]
    loads = [
        path for path in files if re.search(r"^\s*(from|import) (specs|planner)\b", path.read_text(), re.M)
    ]
    assert loads == []
