"""What samples add up to: events, dollars, and how long a raise took."""

import pytest

from lab.watch.events import Event
from lab.watch.history import History
from tests.unit.lab.watch.answers import node, sample


def texts(history: History) -> list[str]:
    return [event.text for event in history.events]


def test_a_burst_is_told_from_the_queue_to_the_last_ready_replica() -> None:
    history = History({"llama3-8b": 2.0})
    history.add(sample(0.0, node("a")))
    history.add(sample(2.0, node("a"), waiting=37))
    history.add(sample(4.0, node("a"), desired=3, waiting=37))
    history.add(sample(6.0, node("a"), node("b", "asked"), node("c", "asked"), desired=3, waiting=30))
    history.add(sample(8.0, node("a"), node("b"), node("c", "launching"), desired=3, ready=2))
    history.add(sample(10.0, node("a"), node("b"), node("c"), desired=3, ready=3))
    assert texts(history) == [
        "llama3-8b queue 37, above its target of 2",
        "llama3-8b desired 1 -> 3",
        "2 NodeClaims created",
        "2 nodes joined",
        "llama3-8b 3 ready, 6 s after desired rose from 1",
    ]


def test_counts_of_one_wave_are_one_event_and_those_of_two_are_two() -> None:
    history = History()
    history.add(sample(0.0))
    history.add(sample(2.0, node("a")))
    history.add(sample(4.0, node("a"), node("b")))
    history.add(sample(60.0, node("a"), node("b"), node("c")))
    created = [event for event in history.events if event.kind == "created"]
    assert [(event.at, event.value) for event in created] == [(4.0, 2), (60.0, 1)]


def test_a_second_raise_moves_the_goal_and_not_the_start() -> None:
    history = History()
    for at, desired, ready in ((0, 1, 1), (2, 4, 1), (17, 9, 4), (40, 9, 9)):
        history.add(sample(float(at), desired=desired, ready=ready))
    assert texts(history)[-1] == "llama3-8b 9 ready, 38 s after desired rose from 1"


def test_a_raise_that_is_taken_back_is_never_told_as_served() -> None:
    history = History()
    for at, desired in ((0, 1), (2, 4), (4, 1), (6, 1)):
        history.add(sample(float(at), desired=desired))
    assert texts(history) == ["llama3-8b desired 1 -> 4", "llama3-8b desired 4 -> 1"]


def test_dollars_and_gpu_hours_count_from_the_first_sample_and_through_an_outage() -> None:
    history = History()
    history.add(sample(0.0, node("a", usd=2.0), node("b", usd=1.0)))
    history.add(sample(1800.0, problems={"kubernetes": "away"}))
    history.add(sample(3600.0, node("a", usd=2.0)))
    assert history.usd == pytest.approx(3.0)
    assert history.gpu_hours == pytest.approx(2.0)


def test_a_source_is_told_when_it_goes_and_when_it_is_back() -> None:
    history = History()
    history.add(sample(0.0))
    history.add(sample(2.0, problems={"prometheus": "connection refused"}))
    history.add(sample(4.0, problems={"prometheus": "connection refused"}))
    assert history.silence("prometheus", 12.0) == 12.0
    history.add(sample(6.0))
    assert texts(history) == ["no data from Prometheus: connection refused", "Prometheus is back"]


def test_what_changed_while_the_api_server_was_away_is_told_when_it_is_back() -> None:
    history = History()
    history.add(sample(0.0, node("a")))
    history.add(sample(2.0, problems={"kubernetes": "away"}))
    history.add(sample(4.0, node("a"), node("b"), desired=2))
    assert "llama3-8b desired 1 -> 2" in texts(history)
    assert "1 NodeClaim created" in texts(history)


def test_a_node_that_ends_is_told() -> None:
    history = History()
    history.add(sample(0.0, node("a"), node("b")))
    history.add(sample(2.0, node("a")))
    assert texts(history) == ["1 node ended"]


def test_an_event_of_the_callers_own_stands_among_them() -> None:
    history = History()
    history.add(sample(0.0))
    history.note(Event(at=1.0, kind="phase", text="burst"))
    history.add(sample(2.0, desired=2))
    assert texts(history) == ["burst", "llama3-8b desired 1 -> 2"]
