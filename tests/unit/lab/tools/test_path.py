"""Tools that the machine already has."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.tools.catalogue import OnPath, Tool
from lab.tools.path import fitting_on_path


def _binary(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


@pytest.mark.parametrize(
    ("version", "fits"), [("v3.271.9", False), ("v3.272.0", True), ("v3.999.1", True), ("v4.0.0", False)]
)
def test_a_binary_on_path_is_taken_only_within_its_range(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, fits: bool
) -> None:
    binary = _binary(tmp_path / version / "hello", version, monkeypatch)
    asked = replace(tool, on_path=OnPath(arguments=("version",), at_least="3.272.0", below="4"))
    assert fitting_on_path(asked) == (binary if fits else None)


def test_a_binary_that_tells_no_version_is_not_taken(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _binary(tmp_path / "bin" / "hello", "hello there", monkeypatch)
    assert fitting_on_path(replace(tool, on_path=OnPath(arguments=(), at_least="1", below="2"))) is None


def test_the_newest_fitting_plugin_in_pulumis_folder_is_taken(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path))
    for version in ("v4.9.0", "v4.34.2", "v5.0.0"):
        folder = tmp_path / "plugins" / f"resource-kubernetes-{version}"
        folder.mkdir(parents=True)
        (folder / "hello").write_text("")
    asked = replace(tool, plugin="kubernetes", on_path=OnPath(arguments=(), at_least="4.25.0", below="5"))
    assert fitting_on_path(asked) == tmp_path / "plugins" / "resource-kubernetes-v4.34.2" / "hello"
