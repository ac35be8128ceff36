"""Karpenter's arithmetic on what EC2 says."""

from __future__ import annotations

import pytest

from planner.refresh.machines import allocatable_cpu, allocatable_memory, baseline_gbps, pods
from planner.refresh.write import catalogue_text, prices_text
from specs.catalogue import catalogue


@pytest.mark.parametrize("name", ["g5.xlarge", "g5.2xlarge", "g6.12xlarge", "g6e.48xlarge", "p5.48xlarge"])
def test_allocatable_cpu_is_that_of_karpenters_reference(name: str) -> None:
    entry = next(entry for entry in catalogue().types if entry.type == name)
    assert allocatable_cpu(entry.vcpu) == entry.allocatable_cpu_milli


@pytest.mark.parametrize(
    ("memory", "most", "left"), [(16384, 58, 14162), (32768, 58, 29317), (196608, 737, 173400)]
)
def test_allocatable_memory_is_that_of_karpenters_reference(memory: int, most: int, left: int) -> None:
    assert allocatable_memory(memory, most) == left


def test_pods_follow_the_addresses_of_the_default_network_card() -> None:
    network = {
        "NetworkCards": [{"MaximumNetworkInterfaces": 2}, {"MaximumNetworkInterfaces": 15}],
        "DefaultNetworkCardIndex": 1,
        "Ipv4AddressesPerInterface": 50,
    }
    assert pods({"NetworkInfo": network}) == 15 * 49 + 2


@pytest.mark.parametrize(
    ("stated", "cards", "gbps"),
    [
        ("Up to 10 Gigabit", [2.5], 2.5),
        ("200 Gigabit", [200.0, 200.0], 200.0),
        ("3200 Gigabit", [100.0] * 32, 3200.0),
        ("Moderate", [], 0.0),
    ],
)
def test_a_burst_is_no_baseline_and_shared_cards_are_not_summed(
    stated: str, cards: list[float], gbps: float
) -> None:
    network = {
        "NetworkPerformance": stated,
        "NetworkCards": [{"BaselineBandwidthInGbps": card} for card in cards],
    }
    assert baseline_gbps({"NetworkInfo": network}) == gbps


def test_a_data_file_has_a_line_an_entry() -> None:
    """So that a refresh is read in a review line by line."""
    text = catalogue_text({"region": "x"}, [{"type": "a"}, {"type": "b"}])
    assert text.count("\n") == 7
    assert prices_text({"items": {"a": 1, "b": 2}, "empty": {}}).splitlines()[2:4] == [
        '    "a": 1,',
        '    "b": 2',
    ]
