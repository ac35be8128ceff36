"""Nodes and pods: stages, limits, drains, warm nodes, reclaims, and the bill."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from planner.replay.fleet import CLAIM_SECONDS, EXIT_SECONDS, TERMINATION_SECONDS, Fleet, Pod, Timing

TIMING = Timing(node=45, image=45, weights=25, engine=60, drain_most=80, pre_stop=20, idle=300)
COLD = CLAIM_SECONDS + 45 + 45 + 25 + 60


class Served:
    """A server that notes who serves; each leaving pod is busy for `busy` seconds."""

    def __init__(self, busy: float = 10.0) -> None:
        self.ready: dict[Pod, float] = {}
        self.left: list[float] = []
        self.busy = busy

    def on_ready(self, pod: Pod, moment: float) -> None:
        self.ready[pod] = moment

    def on_leave(self, pod: Pod, moment: float) -> float:
        del self.ready[pod]
        self.left.append(moment)
        return self.busy


def fleet(
    served: Served, timing: Timing = TIMING, limit: int = 10, spares: int = 0, reclaim: float = math.inf
) -> Fleet:
    return Fleet(timing, limit, spares, served.on_ready, served.on_leave, lambda: reclaim)


def test_a_cold_start_takes_the_sum_of_its_stages() -> None:
    served = Served()
    found = fleet(served)
    found.scale(1, 100.0)
    found.run_until(100 + COLD - 0.1)
    assert not served.ready
    found.run_until(100 + COLD)
    assert list(served.ready.values()) == [100 + COLD]


def test_a_warm_node_saves_node_and_image() -> None:
    served = Served()
    found = fleet(served, spares=1)
    found.start_ready(1, 0.0)
    found.scale(2, 100.0)
    found.run_until(1000.0)
    assert sorted(served.ready.values()) == [0.0, 100.0 + 25 + 60]


def test_a_used_spare_is_replaced() -> None:
    found = fleet(Served(), spares=1)
    found.start_ready(1, 0.0)
    found.scale(2, 100.0)
    found.run_until(1000.0)
    assert len(found.nodes) == 3


def test_the_limit_holds_pods_back_and_says_so() -> None:
    served = Served()
    found = fleet(served, limit=3)
    found.scale(5, 0.0)
    found.run_until(1000.0)
    assert (len(found.nodes), len(served.ready), found.held_back) == (3, 3, True)


def test_a_freed_node_takes_a_held_back_pod() -> None:
    served = Served()
    found = fleet(served, limit=1)
    found.start_ready(1, 0.0)
    found.scale(2, 10.0)
    found.scale(1, 20.0)
    found.run_until(2000.0)
    assert (len(found.pods), len(served.ready), found.held_back) == (1, 1, False)


def test_pods_that_do_not_serve_leave_first_and_then_the_youngest() -> None:
    served = Served()
    found = fleet(served)
    found.start_ready(2, 0.0)
    found.scale(3, 10.0)
    found.run_until(400.0)
    first, second, third = found.pods
    found.scale(4, 400.0)
    found.scale(3, 410.0)
    assert found.pods == [first, second, third]
    found.scale(2, 420.0)
    assert found.pods == [first, second]


def test_an_emptied_node_goes_after_drain_quiet_time_and_termination() -> None:
    served = Served(busy=10.0)
    found = fleet(served)
    found.start_ready(2, 0.0)
    found.scale(1, 1000.0)
    found.run_until(5000.0)
    gone = 1000 + 20 + 10 + EXIT_SECONDS + 300 + TERMINATION_SECONDS
    assert found.node_seconds == pytest.approx(gone)
    found.finish(5000.0)
    assert found.node_seconds == pytest.approx(gone + 5000)


def test_a_drain_never_outlasts_its_deadline() -> None:
    served = Served(busy=10_000.0)
    found = fleet(served)
    found.start_ready(1, 0.0)
    found.scale(0, 0.0)
    found.run_until(5000.0)
    assert found.node_seconds == pytest.approx(80 + EXIT_SECONDS + 300 + TERMINATION_SECONDS)


def test_a_node_that_is_needed_again_within_the_quiet_time_is_kept() -> None:
    served = Served()
    found = fleet(served)
    found.start_ready(2, 0.0)
    found.scale(1, 100.0)
    found.run_until(200.0)
    found.scale(2, 200.0)
    found.run_until(5000.0)
    assert (len(found.nodes), found.launches, len(served.ready)) == (2, 2, 2)


def test_an_unused_launch_is_removed_when_it_was_called_off() -> None:
    found = fleet(Served())
    found.scale(1, 0.0)
    found.scale(0, 10.0)
    found.run_until(5000.0)
    assert found.nodes == []


def test_spares_stay_when_everything_else_goes() -> None:
    found = fleet(Served(), spares=2)
    found.start_ready(4, 0.0)
    found.scale(1, 10.0)
    found.run_until(5000.0)
    assert len(found.nodes) == 3


def test_spot_takes_a_node_with_notice_and_the_pod_comes_back() -> None:
    served = Served()
    found = fleet(served, replace(TIMING, idle=300), reclaim=500.0)
    found.scale(1, 0.0)
    found.run_until(500 + CLAIM_SECONDS)
    assert found.reclaims == 1
    assert served.left == [500 + CLAIM_SECONDS]
    found.run_until(900.0)
    assert len(found.pods) == len(served.ready) == 1
