"""The parts and what they need."""

import re

import pytest

from lab.control.errors import LabError
from lab.control.parts.registry import API, FULL, LIGHT, PARTS, closure, ports_of, tools_of
from lab.tools import TOOLS


@pytest.mark.parametrize("group", [API, LIGHT, FULL])
def test_a_group_is_complete_and_in_an_order_in_which_it_can_start(group: frozenset[str]) -> None:
    names = closure(group)
    assert set(names) == group
    assert all(names.index(need) < names.index(name) for name in names for need in PARTS[name].needs)


def test_what_a_part_needs_comes_with_it() -> None:
    assert closure(["karpenter"]) == ["etcd", "aws", "apiserver", "karpenter"]


def test_an_unknown_part_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LabError, match=r"no component promtheus\. There are: etcd, aws"):
        closure(["promtheus"])


def test_two_karpenters_are_refused() -> None:
    with pytest.raises(LabError, match="choose one"):
        closure(["karpenter", "karpenter-core"])


def test_every_tool_is_in_the_catalogue_and_validating_objects_needs_two_binaries() -> None:
    assert set(tools_of(PARTS)) <= set(TOOLS)
    assert [name for name in tools_of(closure(API)) if TOOLS[name].package] == ["etcd", "kube-apiserver"]


def test_ports_are_named_once() -> None:
    assert len(ports_of(PARTS)) == len(set(ports_of(PARTS)))
    assert all(re.fullmatch(r"[a-z-]+", name) for name in ports_of(PARTS))
