"""What today's program would do to a state that an earlier version left, its configuration untouched."""

from __future__ import annotations

import shutil
from pathlib import Path

from ruamel.yaml import YAML

from lab.cloud.outcome import Outcome
from lab.cloud.session import RecordedCloud
from tests.engine.upgrades.stored import Stored
from tests.engine.upgrades.workspace import imported

PROJECT = Path(__file__).resolve().parents[3]


def replayed(state: Stored, folder: Path, cli: Path) -> Outcome:
    """Preview the program of this tree over the stored state, in `folder`, which is empty."""
    project = folder / "project"
    project.mkdir()
    shutil.copy(PROJECT / "Pulumi.yaml", project)
    with (project / f"Pulumi.{state.stack}.yaml").open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump({"config": dict(state.config)}, file)
    imported(project, folder / "state", cli, state.stack, state.deployment)
    with RecordedCloud(project, folder / "state", cli, main=PROJECT / "__main__.py") as cloud:
        return cloud.preview(state.stack)
