"""A secret set with `pulumi config set --secret` through the real engine: in clear text in no file and no event."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation import ConfigValue

from lab.cloud import session, stackfile
from lab.cloud.session import RecordedCloud
from tests.engine.upgrades.workspace import workspace

PROJECT = Path(__file__).resolve().parents[3]
CLEAR = "hunter2-in-clear-text"
KEY = "headroom:platform.keda.values.extra.token"


def test_a_charts_secret_is_sealed_in_state_and_absent_from_all_that_is_said(
    tmp_path: Path, cli: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, state = tmp_path / "project", tmp_path / "state"
    project.mkdir()
    shutil.copy(PROJECT / "Pulumi.yaml", project)
    text = (PROJECT / "Pulumi.local.yaml").read_text(encoding="utf-8")
    (project / "Pulumi.local.yaml").write_text(
        text.replace("keda: {install: false}", "keda: {install: true}"), encoding="utf-8"
    )
    stackfile.copy(project, "local", state / "work" / "local")
    place = workspace(state, cli, "local")
    place.create_stack("local")
    place.set_config("local", KEY, ConfigValue(CLEAR, secret=True), path=True)

    def keep(*_: Path | str) -> list[str]:
        """The recorded cloud leaves a user's secrets closed; this one is ours, sealed with its own key."""
        return []

    monkeypatch.setattr(session.stackfile, "copy", keep)
    said: list[object] = []
    with RecordedCloud(project, state, cli, main=PROJECT / "__main__.py") as cloud:
        outcome = cloud.up("local", on_event=said.append)
    assert outcome.ok, outcome.problems
    assert CLEAR not in repr(outcome)
    assert CLEAR not in repr(said)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files if CLEAR.encode() in path.read_bytes()] == []
    stored: dict[str, Any] = json.loads((state / "backend/.pulumi/stacks/headroom/local.json").read_text())
    resources = stored["checkpoint"]["latest"]["resources"]
    [release] = [entry for entry in resources if entry["type"].endswith(":Release")]
    assert "ciphertext" in release["inputs"]["values"]
