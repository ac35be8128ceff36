"""The key of a build, and how long it should take."""

import json
import os
from dataclasses import replace

import pytest

from lab.tools import store
from lab.tools.catalogue import Tool

SETTINGS = {"GOVERSION": "go1.26.8", "GOOS": "linux", "GOARCH": "amd64"}


@pytest.mark.parametrize("change", ["go.mod", "go.sum"])
def test_a_changed_pin_changes_the_key(tool: Tool, change: str) -> None:
    before = store.key(tool, SETTINGS)
    path = store.module_of(tool) / change
    path.write_text(path.read_text() + "\n// another pin\n")
    assert store.key(tool, SETTINGS) != before


def test_flags_and_the_go_version_change_the_key_and_an_estimate_does_not(tool: Tool) -> None:
    before = store.key(tool, SETTINGS)
    assert store.key(replace(tool, stamp={"main.version": "2"}), SETTINGS) != before
    assert store.key(replace(tool, tags=("netgo",)), SETTINGS) != before
    assert store.key(tool, SETTINGS | {"GOVERSION": "go1.27.0"}) != before
    assert store.key(replace(tool, seconds=99), SETTINGS) == before


def test_the_estimate_is_the_longest_measured_build_and_a_mere_link_is_not_kept(tool: Tool) -> None:
    slow = replace(tool, seconds=100)
    assert store.estimate(slow) == 100
    store.remember_duration(slow, 3.0)
    assert store.estimate(slow) == 100
    store.remember_duration(slow, 40.0)
    store.remember_duration(slow, 30.0)
    assert store.estimate(slow) == 40


def test_old_builds_of_a_tool_go_and_those_of_others_stay(tool: Tool) -> None:
    for number, name in enumerate(["hello-1", "hello-2", "hello-3", "hello-4", "hello-world-1"]):
        folder = store.root() / name
        folder.mkdir(parents=True)
        (folder / "build.json").write_text(json.dumps({"tool": name.rpartition("-")[0]}))
        os.utime(folder / "build.json", (number, number))
    store.prune(tool)
    assert {path.name for path in store.root().iterdir()} == {
        "hello-2",
        "hello-3",
        "hello-4",
        "hello-world-1",
    }
