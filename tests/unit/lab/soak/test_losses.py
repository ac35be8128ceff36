"""A lost request is a death's only if it was under way there; every other one is told with the action before it."""

from typing import Any

import pytest

from lab.load import Failure, causes
from lab.soak.actions import Action
from lab.soak.losses import LATE_SECONDS, Toll, attributed

DEATH = Action(at=5, kind="node-death", target="m")
CRASH = Action(at=30, kind="router-crash", target="m")
NODE = Toll(action=DEATH, begun=100.0, ended=101.0, what="a node died with 2", requests=2)
ROUTER = Toll(action=CRASH, begun=200.0, ended=200.5, what="a router crashed", router="127.9.0.4")


def failure(
    clock: float,
    *,
    after: float = 3.0,
    target: str = "http://127.9.0.7:8080",
    cause: str = "reset-mid-stream",
) -> Failure:
    return Failure(
        at=0,
        after=after,
        clock=clock,
        id=f"load-{clock}",
        target=target,
        route="/v1/completions",
        stream=True,
        cause=cause,
        detail="",
    )


def outside(*failures: Failure) -> list[float]:
    """Clocks of the losses that no death explains."""
    return [loss.failure.clock for loss in attributed(failures, [NODE, ROUTER], []) if loss.toll is None]


def test_requests_that_were_on_the_dead_node_are_its_own() -> None:
    assert outside(failure(100.5), failure(102.0)) == []


def test_one_loss_more_than_the_dead_node_held_is_outside() -> None:
    assert outside(failure(100.5), failure(100.6), failure(100.7)) == [100.7]


@pytest.mark.parametrize("clock", [99.9, 101.1 + LATE_SECONDS])
def test_a_loss_before_or_long_after_a_death_is_outside(clock: float) -> None:
    assert outside(failure(clock, after=40.0)) == [clock]


def test_a_request_sent_after_the_death_can_not_have_been_on_the_node() -> None:
    assert outside(failure(104.0, after=2.0)) == [104.0]


def test_a_crashed_router_explains_the_losses_at_its_address_alone() -> None:
    own, other = "http://127.9.0.4:8080", "http://127.9.0.40:8080"
    assert outside(failure(200.2, target=own), failure(200.3, target=own), failure(200.4, target=other)) == [
        200.4
    ]


def test_a_router_that_starts_again_may_refuse_connections_and_nothing_more() -> None:
    def late(clock: float, cause: str) -> Failure:
        return failure(clock, after=0.01, target="http://127.9.0.4:8080", cause=cause)

    assert outside(late(202.0, causes.REFUSED), late(203.0, "status-503")) == [203.0]


def test_a_loss_names_the_action_nearest_before_it() -> None:
    acted: list[tuple[float, Any]] = [(100.0, DEATH), (200.0, CRASH)]
    losses = attributed([failure(250.0), failure(150.0), failure(50.0)], [], acted)
    assert [loss.before for loss in losses] == [None, DEATH, CRASH]
