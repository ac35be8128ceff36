"""A tool of one file, a Go command made of a few lines of shell, and a cache of its own for each test."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.tools import build, golang, store
from lab.tools.catalogue import Tool

GOOD = 'while [ "$1" != "-o" ]; do shift; done; echo built > "$2"'


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, empty."""
    monkeypatch.setenv("HEADROOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tools"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Tool:
    """A tool called `hello` whose module needs Go 1.26.0; PATH holds the system alone."""
    module = tmp_path / "modules" / "hello"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module hello\n\ngo 1.26.0\n")
    (module / "go.sum").write_text("")
    hello = Tool(
        name="hello",
        module="hello",
        package="example.com/hello",
        pin="example.com/hello",
        version="v1.0.0",
        seconds=1,
    )
    monkeypatch.setattr(store, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(build, "TOOLS", {"hello": hello})
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    golang.go_settings.cache_clear()
    return hello


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Puts a Go command on PATH: it answers `go env` with a version, and runs a script for `go build`."""

    def install(build_script: str = GOOD, version: str = "go1.26.8", toolchain: str = "auto") -> Path:
        folder = tmp_path / "go-bin"
        folder.mkdir(exist_ok=True)
        answer = (
            f'{{"GOVERSION": "{version}", "GOOS": "linux", "GOARCH": "amd64", "GOTOOLCHAIN": "{toolchain}"}}'
        )
        script = folder / "go"
        script.write_text(f"#!/bin/sh\ncase $1 in\nenv) echo '{answer}' ;;\nbuild) {build_script} ;;\nesac\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return script

    return install
