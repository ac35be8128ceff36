"""The shipped program over the recorded cloud, with stack files that a test may change."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from lab.cloud.session import RecordedCloud

PROJECT = Path(__file__).resolve().parents[3]
Change = Callable[[dict[str, Any]], object]


class Program:
    """One stack's state; each operation may run under a changed configuration."""

    def __init__(self, folder: Path, stack: str, cli: Path) -> None:
        self._folder, self.stack, self._cli = folder, stack, cli
        folder.mkdir(exist_ok=True)
        shutil.copy(PROJECT / "Pulumi.yaml", folder)
        self.configure(lambda _: None)

    def configure(self, change: Change) -> None:
        """Write the shipped stack file with a change made to its configuration."""
        yaml = YAML(typ="safe", pure=True)
        name = f"Pulumi.{self.stack}.yaml"
        document = cast(dict[str, Any], yaml.load((PROJECT / name).read_text()))
        change(document["config"])
        with (self._folder / name).open("w") as file:
            yaml.dump(document, file)

    @property
    def cloud(self) -> RecordedCloud:
        """The recorded cloud over this folder's stack file and state."""
        cloud = RecordedCloud(self._folder, self._folder / "state", self._cli, main=PROJECT / "__main__.py")
        return cloud.__enter__()


@pytest.fixture
def no_cluster(cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig, no credentials, nothing of the user's."""
    for name in ("KUBECONFIG", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def program(tmp_path: Path, cli: Path) -> Callable[[str], Program]:
    """Make a program for a stack."""
    return lambda stack: Program(tmp_path / stack, stack, cli)


def named(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The model of that name in a configuration."""
    return next(model for model in config["headroom:models"] if model["name"] == name)
