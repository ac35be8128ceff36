"""The engine, and projects to run through it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cloud.session import RecordedCloud
from tests.engine.cloud import projects
from tests.engine.cloud.projects import Project

Make = Callable[[str], Project]


@pytest.fixture
def make(tmp_path: Path, cli: Path) -> Make:
    """Makes a project out of a program's source; several in one test have nothing in common."""
    made: list[Project] = []

    def project(source: str) -> Project:
        folder = tmp_path / f"project{len(made)}"
        projects.write(folder, source)
        with RecordedCloud(folder, tmp_path / f"state{len(made)}", cli) as cloud:
            made.append(Project(folder=folder, cloud=cloud))
        return made[-1]

    return project


@pytest.fixture
def serving(make: Make) -> Project:
    """The small serving stack."""
    return make(projects.SERVING)
