"""The catalogue and the go.mod files say the same."""

import re

import pytest

from lab.tools import TOOLS, Tool, store

ALL = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


@ALL
def test_the_version_is_the_one_that_go_mod_pins(tool: Tool) -> None:
    content = (store.module_of(tool) / "go.mod").read_text()
    found = re.search(rf"^(?:require)?\s+{re.escape(tool.pin)} (\S+)", content, re.MULTILINE)
    assert found
    assert found.group(1) == tool.version


@ALL
def test_every_module_has_its_sums(tool: Tool) -> None:
    assert f"{tool.pin} {tool.version} h1:" in (store.module_of(tool) / "go.sum").read_text()


@ALL
def test_a_tool_is_a_binary_or_files(tool: Tool) -> None:
    assert bool(tool.package) != bool(tool.files)


def test_every_module_is_used() -> None:
    assert {path.name for path in store.MODULES.iterdir()} == {tool.module for tool in TOOLS.values()}
