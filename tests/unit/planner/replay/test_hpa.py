"""The HPA controller's arithmetic, figure by figure."""

from __future__ import annotations

import pytest

from planner.replay.hpa import Autoscaler, Behavior, Limits, proposal

UP = Limits(pods=9, percent=400, period_seconds=15, window_seconds=0)
PUBLISHED_UP = Limits(pods=0, percent=100, period_seconds=15, window_seconds=0)
DOWN = Limits(pods=1, percent=0, period_seconds=60, window_seconds=300)


def autoscaler(up: Limits = UP, down: Limits = DOWN, least: int = 1, most: int = 10) -> Autoscaler:
    return Autoscaler(Behavior(least, most, up, down))


@pytest.mark.parametrize(
    ("usage", "target", "replicas", "wanted"),
    [
        (18, 2, 1, 9),
        (2.2, 2, 1, 1),  # ratio 1.1 is inside the tolerance
        (2.21, 2, 1, 2),
        (3.61, 2, 2, 2),  # 0.9025
        (3.5, 2, 2, 2),
        (1.9, 2, 2, 1),
        (0, 2, 5, 0),
        (6.6, 1.32, 5, 5),
        (14.0004, 2, 2, 7),  # rounded to thousandths, both the total and the target
        (14.0006, 2, 2, 8),
        (9.245, 1.3209, 1, 7),
        (-3, 2, 4, 0),
    ],
)
def test_average_value_divides_the_total(usage: float, target: float, replicas: int, wanted: int) -> None:
    assert proposal(usage, target, "AverageValue", replicas, replicas) == wanted


@pytest.mark.parametrize(
    ("usage", "replicas", "ready", "wanted"),
    [(0.95, 4, 4, 5), (0.95, 9, 4, 5), (0.9, 4, 4, 4), (0.4, 4, 4, 2), (0.95, 4, 0, 0)],
)
def test_value_scales_the_ready_replicas(usage: float, replicas: int, ready: int, wanted: int) -> None:
    assert proposal(usage, 0.85, "Value", replicas, ready) == wanted


def test_one_round_takes_a_burst_from_one_to_nine() -> None:
    assert autoscaler().desired(0.0, 1, [9]) == 9


def test_doubling_takes_four_rounds() -> None:
    found, current, seen = autoscaler(PUBLISHED_UP), 1, [1]
    for sync in range(4):
        current = found.desired(sync * 15.0 + 0.1 * sync, current, [9])
        seen.append(current)
    assert seen == [1, 2, 4, 8, 9]


def test_the_last_replica_of_a_model_that_may_sleep_is_not_the_hpas_to_take() -> None:
    at_once = Limits(pods=20, percent=0, period_seconds=15, window_seconds=0)
    assert autoscaler(down=at_once, least=0).desired(0.0, 3, [0]) == 1
    assert autoscaler(down=at_once, least=2).desired(0.0, 3, [0]) == 2


def test_the_largest_proposal_counts() -> None:
    assert autoscaler().desired(0.0, 2, [1, 5, 3]) == 5


def test_a_failed_metric_blocks_shrinking_and_not_growing() -> None:
    found = autoscaler()
    for sync in range(100):
        assert found.desired(sync * 15.0, 5, [1, None]) == 5
    assert found.desired(1500.0, 5, [8, None]) == 8


def test_when_every_metric_fails_nothing_happens() -> None:
    assert autoscaler().desired(0.0, 5, [None, None]) == 5


def test_shrinking_waits_for_the_window_and_goes_one_a_minute() -> None:
    found, current = autoscaler(), 5
    found.desired(0.0, current, [5])
    changes: list[float] = []
    for sync in range(1, 60):
        after = found.desired(sync * 15.0, current, [2])
        if after != current:
            changes.append(sync * 15.0)
            assert after == current - 1
            current = after
    assert changes == [300.0, 360.0, 420.0]
    assert current == 2


def test_one_high_recommendation_keeps_the_replicas_for_the_window() -> None:
    found = autoscaler()
    found.desired(0.0, 4, [4])
    for sync in range(1, 21):
        found.desired(sync * 15.0, 4, [4 if sync == 10 else 1])
    assert found.desired(435.0, 4, [1]) == 4
    assert found.desired(450.0, 4, [1]) == 3


def test_nothing_leaves_the_range() -> None:
    assert autoscaler(most=6).desired(0.0, 1, [50]) == 6
    assert autoscaler(least=2, down=Limits(10, 0, 60, 0)).desired(0.0, 5, [0]) == 2


def test_a_percentage_down_rounds_down_to_at_least_one_pod() -> None:
    found = autoscaler(down=Limits(0, 10, 60, 0))
    assert found.desired(0.0, 10, [1]) == 9
