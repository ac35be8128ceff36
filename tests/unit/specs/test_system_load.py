"""Whether the system nodes hold what is pinned to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specs import system_load
from specs.settings import Settings, read
from specs.settings.source import load, stack_path
from specs.system_load import Room
from tests.unit.specs.stack import POOLS, settings

PROJECT = Path(__file__).resolve().parents[3]
CORE = {"controller": {"resources": {"requests": {"cpu": "1"}}}}


def stack(name: str, **platform: Any) -> Settings:
    config = dict(load(stack_path(PROJECT, name)).config)
    return read({**config, "headroom:platform": platform} if platform else config)


def fits(found: Settings) -> bool:
    room = system_load.available(found)
    assert room is not None
    return room.holds(system_load.needed(found))


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_the_shipped_stacks_fit_their_system_nodes(name: str) -> None:
    assert fits(stack(name))


def test_a_core_for_each_karpenter_would_not_fit_the_development_nodes() -> None:
    assert not fits(stack("dev", karpenter={"values": CORE}))


def test_routers_of_many_models_need_more_nodes() -> None:
    def models(nodes: int) -> Settings:
        many = [{"name": f"m{index}", "replicas": {"min": 0, "max": 1}} for index in range(24)]
        sections: dict[str, Any] = {
            "cluster": {"systemNodes": {"min": nodes, "max": nodes}},
            "gpuPools": [dict(POOLS[0], gpuLimit=24), POOLS[1]],
        }
        return settings(*many, **sections)

    with pytest.raises(AssertionError, match=r"cluster\.systemNodes"):  # the checks refuse it
        models(2)
    assert fits(models(6))


def test_what_is_not_installed_needs_no_room() -> None:
    with_it, without = settings(), settings({}, platform={"keda": {"install": False}})
    assert system_load.needed(without).cpu_milli == system_load.needed(with_it).cpu_milli - 320


def test_the_smallest_of_several_types_decides() -> None:
    found = settings({}, cluster={"systemNodes": {"instanceTypes": ["m7i.2xlarge", "m7i.large"], "min": 2}})
    assert system_load.available(found) == system_load.available(settings())


def test_a_type_whose_name_tells_no_size_is_not_judged() -> None:
    assert system_load.of_type("m7i.metal-24xl") is None
    found = settings({}, cluster={"systemNodes": {"instanceTypes": ["u7i.xlarge"]}})
    assert system_load.available(found) is None


@pytest.mark.parametrize(
    ("name", "milli"),
    [("m7i.large", 1930), ("c7i.xlarge", 3920), ("r7i.2xlarge", 7910), ("m7i.4xlarge", 15890)],
)
def test_the_kubelets_reserve_is_that_of_eks(name: str, milli: int) -> None:
    """Karpenter's instance type reference has the same figures for GPU types of as many cores."""
    room = system_load.of_type(name)
    assert room is not None
    assert room.cpu_milli == milli


def test_room_is_short_when_either_resource_is() -> None:
    assert Room(2, 2).holds(Room(2, 2))
    assert not Room(2, 2).holds(Room(3, 1))
    assert not Room(2, 2).holds(Room(1, 3))


def test_values_of_a_wrong_shape_are_left_for_kubernetes_to_name() -> None:
    odd = {"replicas": "many", "controller": {"resources": {"requests": {"cpu": "lots"}}}}
    system_load.needed(settings({}, platform={"karpenter": {"values": odd}}))
    system_load.needed(settings({}, platform={"keda": {"values": {"resources": None}}}))
