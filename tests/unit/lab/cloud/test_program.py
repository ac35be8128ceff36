"""A project's modules are its own, and last until its last output has come."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from lab.render import render

_SIZES = "def double(value):\n    return 2 * value\n"
_LATE = """
import pulumi
import pulumi_aws as aws

key = aws.kms.Key("key", description="d")


def late(name):
    from sizes import double

    return str(double(len(name)))


pulumi.Output.from_input("four").apply(late).apply(lambda size: aws.kms.Alias("size", name=size, target_key_id="k"))
"""
_TYPED = """
from parts import Part

import pulumi_aws as aws

part = Part("part")
part.told.apply(lambda told: aws.kms.Alias("told", name=told, target_key_id="k"))
"""
_PART = '''
from __future__ import annotations

import pulumi


class Part(pulumi.ComponentResource):
    """Its outputs' types are asked of its module when they come."""

    told: pulumi.Output[str]

    def __init__(self, name: str) -> None:
        super().__init__("test:index:Part", name)
        self.told = pulumi.Output.from_input("alias/told")
        self.register_outputs({"told": self.told})
'''


def project(folder: Path, main: str, **modules: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "__main__.py").write_text(textwrap.dedent(main))
    return folder / "__main__.py"


@pytest.mark.parametrize(
    ("main", "modules", "alias"),
    [(_LATE, {"sizes": _SIZES}, "8"), (_TYPED, {"parts": _PART}, "alias/told")],
    ids=["imported late", "typed by its module"],
)
def test_what_comes_after_the_text_has_ended_finds_the_projects_modules(
    main: str, modules: dict[str, str], alias: str, tmp_path: Path
) -> None:
    declared = render(project(tmp_path / "one", main, **modules), "dev", {"aws:region": "us-east-1"})
    assert [entry.inputs["name"] for entry in declared if entry.type.endswith("Alias")] == [alias]


def test_two_projects_do_not_see_each_others_modules(tmp_path: Path) -> None:
    path = list(sys.path)
    for name, size, alias in (("one", "def double(v):\n    return v\n", "4"), ("two", _SIZES, "8")):
        declared = render(project(tmp_path / name, _LATE, sizes=size), "dev", {"aws:region": "us-east-1"})
        assert [entry.inputs["name"] for entry in declared if entry.type.endswith("Alias")] == [alias]
        assert "sizes" not in sys.modules
    assert sys.path == path
