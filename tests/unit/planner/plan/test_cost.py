"""The monthly bill, the published comparison and the floor's hours."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.plan.cost import Cost, cost
from planner.plan.floor import held_replicas
from planner.plan.load import Typical
from planner.plan.published import scenarios
from specs.settings import Settings

Make = Callable[..., Settings]
MONTH = Typical("a trace", 4000.0, 3000.0, 0.0, 100.0, 0.0)


def bill(settings: Settings, month: Typical = MONTH) -> Cost:
    return cost(settings, {model.name: month for model in settings.active_models})


def line(found: Cost, item: str) -> tuple[float, float, float]:
    rows = [entry for entry in found.lines if entry.item == item]
    return sum(row.floor for row in rows), sum(row.typical for row in rows), sum(row.ceiling for row in rows)


def test_the_floor_pays_the_minimum_and_the_ceiling_every_replica(make: Make) -> None:
    floor, _, ceiling = line(bill(make()), "gpuNodes")
    assert floor == pytest.approx(1.212 * 730)
    assert ceiling == pytest.approx(10 * 1.212 * 730)


def test_typical_gpu_hours_are_those_that_serve_and_the_rest_is_overhead(make: Make) -> None:
    found = bill(make())
    assert line(found, "gpuNodes")[1] == pytest.approx(3000 * 1.212)
    assert line(found, "startsHeadroomAndDrains")[1] == pytest.approx(1000 * 1.212)


def test_floor_typical_and_ceiling_come_in_this_order(make: Make) -> None:
    found = bill(make())
    assert found.floor < found.typical < found.ceiling <= found.scarce_ceiling


def test_the_control_plane_and_one_nat_gateway_are_on_the_bill(make: Make) -> None:
    found = bill(make())
    assert line(found, "controlPlane")[0] == pytest.approx(73.0)
    assert line(found, "natGateways")[0] == pytest.approx(32.85)


def test_a_nat_gateway_in_each_zone_costs_three_times_as_much(make: Make) -> None:
    found = bill(make(network={"natGateways": "perZone", "endpoints": False}))
    assert line(found, "natGateways")[0] == pytest.approx(98.55)


def test_private_endpoints_are_paid_by_service_and_zone(make: Make) -> None:
    found = bill(make(network={"natGateways": "single", "endpoints": True}))
    assert line(found, "interfaceEndpoints")[0] == pytest.approx(10 * 3 * 0.01 * 730)


def test_a_model_without_ingress_has_no_load_balancer(make: Make) -> None:
    assert line(bill(make()), "loadBalancer")[0] == pytest.approx(0.0225 * 730)
    assert line(bill(make(model={"ingress": {"enabled": False}})), "loadBalancer")[0] == 0


def test_an_existing_cluster_pays_for_gpu_nodes_alone(make: Make) -> None:
    items = {entry.item for entry in bill(make(cluster={"mode": "existing"})).lines}
    assert items == {"gpuNodes", "startsHeadroomAndDrains", "warmSpares", "disks"}


def test_spot_lowers_floor_and_typical_but_not_the_ceiling(make: Make) -> None:
    steady, spot = bill(make()), bill(make(pool={"capacityTypes": ["spot", "on-demand"]}))
    assert line(spot, "gpuNodes")[0] == pytest.approx(0.795 * line(steady, "gpuNodes")[0])
    assert line(spot, "gpuNodes")[2] == line(steady, "gpuNodes")[2]
    assert spot.spot_typical == pytest.approx(spot.typical)
    assert spot.on_demand_typical == pytest.approx(steady.typical)


def test_a_pool_without_spot_has_no_spot_price(make: Make) -> None:
    assert bill(make()).spot_typical is None


def test_warm_spares_are_paid_at_every_hour(make: Make) -> None:
    settings = make(model={"replicas": {"min": 1, "max": 9}, "scaling": {"warmSpares": 1}})
    month = Typical("a trace", 4000.0, 3000.0, 730.0, 100.0, 0.0)
    assert line(bill(settings, month), "warmSpares") == pytest.approx((1.212 * 730,) * 3)


def test_more_disk_throughput_costs_more(make: Make) -> None:
    """gp3: 150 GiB at 0.08 and 475 MiB/s above 125 at 0.04, beside an 8 GiB system volume."""
    assert line(bill(make()), "disks")[0] == pytest.approx(158 * 0.08 + 475 * 0.04)
    slow = make(pool={"disk": {"throughput": 125}})
    assert line(bill(slow), "disks")[0] == pytest.approx(158 * 0.08)


def test_images_from_a_private_registry_pass_the_nat_gateway_by(make: Make) -> None:
    private = make(model={"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:v0.33.0"})
    assert line(bill(make()), "imagePulls")[1] > 0
    assert line(bill(private), "imagePulls")[1] == 0


def test_a_ceiling_above_the_budget_is_told(make: Make) -> None:
    low = bill(make(budget={"maxMonthlyUsd": 100})).as_json()
    high = bill(make(budget={"maxMonthlyUsd": 100_000})).as_json()
    assert (low["withinBudget"], high["withinBudget"]) == (False, True)


def test_a_system_type_without_a_known_price_is_named_and_not_guessed(make: Make) -> None:
    found = bill(make(cluster={"systemNodes": {"instanceTypes": ["x2gd.large"]}}))
    assert found.unpriced == ("systemNodes x2gd.large",)
    assert line(found, "systemNodes")[0] == 0


def test_the_published_comparison_is_reproduced() -> None:
    """192, 112 and 64 GPU-hours a day at $1.212: about $7,000, $4,080 and, with its implied discount, $1,850."""
    usd = {scenario.name: scenario.usd for scenario in scenarios()}
    assert usd["static"] == pytest.approx(6981.12)
    assert usd["reactive"] == pytest.approx(4072.32)
    assert usd["predictive"] == pytest.approx(2327.04)
    assert usd["predictiveSpot"] == pytest.approx(1850, abs=1)


def test_a_schedule_raises_the_floor_for_its_hours_alone(make: Make) -> None:
    """Weekdays 09:00 to 18:00 at four replicas, else one: 45 of 168 hours."""
    entry = {"timezone": "UTC", "start": "0 9 * * 1-5", "end": "0 18 * * 1-5", "replicas": 4}
    settings = make(model={"scaling": {"schedule": [entry]}})
    assert held_replicas(settings, settings.models[0]) == pytest.approx(1 + 3 * 45 / 168)


def test_overlapping_schedules_count_the_largest(make: Make) -> None:
    day = {"timezone": "UTC", "start": "0 0 * * *", "end": "0 12 * * *", "replicas": 2}
    noon = {"timezone": "UTC", "start": "0 6 * * *", "end": "0 18 * * *", "replicas": 5}
    settings = make(model={"scaling": {"schedule": [day, noon]}})
    assert held_replicas(settings, settings.models[0]) == pytest.approx((2 * 6 + 5 * 12 + 1 * 6) / 24)


def test_windows_that_meet_leave_no_gap(make: Make) -> None:
    first = {"timezone": "UTC", "start": "0 0 * * *", "end": "0 12 * * *", "replicas": 3}
    second = {"timezone": "UTC", "start": "0 12 * * *", "end": "0 0 * * *", "replicas": 3}
    settings = make(model={"scaling": {"schedule": [first, second]}})
    assert held_replicas(settings, settings.models[0]) == pytest.approx(3.0, abs=0.01)
