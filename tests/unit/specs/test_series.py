"""The names that rules and panels read are those that the parts export."""

from __future__ import annotations

from pathlib import Path

import pytest
import vllm_router

from specs import metrics_names, series
from tests.unit.specs.known_series import HISTOGRAMS, known

EXPOSITION = Path(__file__).parents[1] / "planner/calibrate/vllm-0.33-metrics.txt"
GONE = (metrics_names.KV_USAGE_BEFORE_0_11,)


@pytest.mark.parametrize("name", sorted(name for name in (*known(), *HISTOGRAMS) if name.startswith("vllm:")))
def test_vllm_exports_it(name: str) -> None:
    if name not in GONE:
        assert f"\n{name}" in "\n" + EXPOSITION.read_text()


def test_the_router_exports_them() -> None:
    folder = Path(vllm_router.__file__).parent.parent
    (library,) = folder.glob("vllm_router_rs*.so")
    built = library.read_bytes()
    for name in known():
        if name.startswith("vllm_router_"):
            assert name.encode() in built, name


def test_a_selector_names_what_it_wants() -> None:
    assert series.where("up") == "up"
    assert series.where("up", {"job": "a"}, {"pod": "b|c"}, 90) == 'up{job="a",pod=~"b|c"}[90s]'


def test_a_pattern_of_names_does_not_depend_on_their_order() -> None:
    assert series.any_of(["b", "a", "b"]) == series.any_of(["a", "b"]) == "a|b"
