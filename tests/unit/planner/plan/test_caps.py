"""GPU caps by layer and vCPUs by quota."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.plan.caps import Quota, caps, quota_of, quotas, together
from specs.catalogue import catalogue
from specs.settings import Settings

Make = Callable[..., Settings]


def by_code(settings: Settings) -> dict[str, Quota]:
    return {quota.name.key: quota for quota in quotas(settings)}


def test_ten_pods_on_g5_2xlarge_need_eighty_vcpus(make: Make) -> None:
    """AW1: the quota counts vCPUs, not GPUs."""
    assert by_code(make())["L-DB2E81BA"].vcpu == 80


@pytest.mark.parametrize(
    ("sizes", "vcpu", "short"),
    [
        ((8,) * 10, 64, 2),
        ((8,) * 10, 80, 0),
        ((8,) * 10, 79, 1),
        ((192, 192, *(8,) * 10), 0, 12),
        ((192, 192, *(8,) * 10), 271, 2),  # the mean of 38.7 would make it five
        ((192, 192, *(8,) * 10), 272, 1),
        ((96, 4, 48), 52, 1),
    ],
)
def test_nodes_without_room_are_counted_by_their_own_sizes(
    sizes: tuple[int, ...], vcpu: int, short: int
) -> None:
    assert _spot(sizes, "g6.2xlarge").without_room(vcpu) == short


def _spot(sizes: tuple[int, ...], largest: str) -> Quota:
    return Quota(quota_of(catalogue().types[0], "spot"), sizes, 0, largest, None)


def test_demands_on_one_quota_keep_the_sizes_of_their_nodes() -> None:
    both = together(_spot((192,) * 2, "p5.48xlarge"), _spot((8,) * 10, "g6.2xlarge"))
    all_three = together(both, _spot((48,), "g6.12xlarge"))
    assert (all_three.nodes, all_three.vcpu) == (13, 512)
    assert all_three.largest == "p5.48xlarge"  # the first two nodes' mean is 38.7


def test_spot_and_on_demand_each_need_the_whole(make: Make) -> None:
    """AW1: the two quotas are apart."""
    found = by_code(make(pool={"capacityTypes": ["spot", "on-demand"]}))
    assert (found["L-3819A6DF"].vcpu, found["L-DB2E81BA"].vcpu) == (80, 80)


def test_a_pool_without_spot_asks_nothing_of_the_spot_quota(make: Make) -> None:
    assert "L-3819A6DF" not in by_code(make())


def test_reservations_count_against_the_on_demand_quota(make: Make) -> None:
    found = by_code(make(pool={"capacityTypes": ["reserved", "spot"]}))
    assert (found["L-3819A6DF"].vcpu, found["L-DB2E81BA"].vcpu) == (80, 80)


def test_the_worst_case_is_the_largest_type_that_fits_and_the_least_the_cheapest(make: Make) -> None:
    quota = by_code(make(pool={"instanceTypes": ["g5.2xlarge", "g5.16xlarge"]}))["L-DB2E81BA"]
    assert (quota.vcpu, quota.least_vcpu) == (640, 80)


def test_types_that_cannot_run_a_replica_do_not_count(make: Make) -> None:
    """g5.48xlarge has eight GPUs."""
    found = by_code(make(pool={"instanceTypes": ["g5.2xlarge", "g5.48xlarge"]}))
    assert found["L-DB2E81BA"].vcpu == 80


@pytest.mark.parametrize(
    ("name", "capacity", "code"),
    [
        ("g6.2xlarge", "spot", "L-3819A6DF"),
        ("g6.2xlarge", "on-demand", "L-DB2E81BA"),
        ("p4d.24xlarge", "on-demand", "L-417A185B"),
        ("p4d.24xlarge", "spot", "L-7212CCBC"),
        ("p5.48xlarge", "spot", "L-C4BD4855"),
        ("p5.48xlarge", "on-demand", "L-417A185B"),
    ],
)
def test_each_family_has_its_own_quota(name: str, capacity: str, code: str) -> None:
    instance = next(entry for entry in catalogue().types if entry.type == name)
    assert quota_of(instance, capacity).code == code


def test_a_quota_whose_code_is_not_confirmed_is_named_so() -> None:
    instance = next(entry for entry in catalogue().types if entry.type == "p6-b200.48xlarge")
    assert quota_of(instance, "spot").key == "unconfirmed: P6 Spot Instance Requests"


def test_system_nodes_count_against_the_standard_quota(make: Make) -> None:
    found = by_code(make(cluster={"systemNodes": {"instanceTypes": ["m7i.xlarge"], "min": 2, "max": 5}}))
    assert found["L-1216C47A"].vcpu == 20


def test_an_existing_cluster_brings_its_own_system_nodes(make: Make) -> None:
    assert "L-1216C47A" not in by_code(make(cluster={"mode": "existing"}))


def test_the_replicas_layer_counts_spares_and_surge(make: Make) -> None:
    found = caps(make(model={"replicas": {"min": 1, "max": 8}, "scaling": {"warmSpares": 1}}))
    assert (found.replicas, found.spares, found.surge) == (10, 1, 1)


def test_the_caps_hold_the_three_layers(make: Make) -> None:
    document = caps(make(budget={"maxGpus": 12})).as_json()
    assert (document["replicasGpus"], document["poolsGpus"], document["budgetGpus"]) == (10, 10, 12)
