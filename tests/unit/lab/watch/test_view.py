"""The picture, in the sizes of real terminals."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console
from rich.text import Text

from lab.watch.figures import PoolSample
from lab.watch.history import History
from lab.watch.spark import PLAIN, spark
from lab.watch.view import view
from tests.unit.lab.watch.answers import node, sample


def burst() -> History:
    history = History({"llama3-8b": 2.0})
    for step in range(40):
        at = 2.0 * step
        nodes = [node(f"n{number}") for number in range(1 if step < 10 else 9)]
        desired, ready = (1, 1) if step < 8 else (9, 1 if step < 20 else 9)
        history.add(sample(at, *nodes, desired=desired, ready=ready, waiting=0 if step < 5 else 37))
    return history


def lines(
    history: History, width: int, height: int, *, levels: str = "▁█", extra: Sequence[Text] = ()
) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    shown = view(history, title="local", now=80.0, width=width, height=height, levels=levels, extra=extra)
    with console.capture() as captured:
        console.print(shown)
    return captured.get().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 30), (160, 45), (200, 20), (60, 12)])
def test_the_view_fits_the_terminal(width: int, height: int) -> None:
    shown = lines(burst(), width, height)
    assert len(shown) <= height
    assert max(map(len, shown)) <= width


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 45)])
def test_figures_trends_nodes_money_and_events_are_there(width: int, height: int) -> None:
    text = "\n".join(lines(burst(), width, height))
    for expected in (
        "llama3-8b",
        "desired",
        "9 nodes",
        "g5.2xlarge",
        "us-east-1a",
        "$9.00/h",
        "so far",
        "max 37",
    ):
        assert expected in text
    assert "llama3-8b desired 1 -> 9" in text


def test_a_source_that_is_away_is_told_with_the_seconds() -> None:
    history = burst()
    history.add(sample(80.0, problems={"prometheus": "connection refused"}))
    assert "no data from Prometheus for 2 s: connection refused" in "\n".join(lines(history, 80, 24))


def test_what_is_not_known_is_a_dash_and_not_a_zero() -> None:
    history = History()
    history.add(sample(0.0, problems={"prometheus": "away", "kubernetes": "away"}))
    text = "\n".join(lines(history, 80, 24))
    assert "nodes: not known" in text
    assert " 0.0 " not in text


def test_before_the_first_look_there_is_a_line() -> None:
    assert lines(History(), 80, 24) == ["local: the first look is being taken"]


def test_lines_of_the_caller_stand_in_the_view() -> None:
    assert "50 clients" in "\n".join(lines(burst(), 80, 24, extra=[Text("50 clients")]))


def test_a_plain_terminal_gets_plain_characters() -> None:
    assert "\n".join(lines(burst(), 80, 24, levels=PLAIN)).isascii()


def test_many_kinds_of_nodes_are_cut_with_their_count() -> None:
    history = History()
    kinds = [node(f"n{number}").model_copy(update={"zone": f"us-east-1{number}"}) for number in range(9)]
    first = sample(0.0)
    history.add(first.model_copy(update={"pools": (PoolSample(name="p", gpu_limit=9, nodes=tuple(kinds)),)}))
    assert "and 6 more kinds" in "\n".join(lines(history, 80, 24))


def test_a_spark_shows_peaks_and_leaves_the_unknown_blank() -> None:
    moments, values = [0.0, 1.0, 2.0, 3.0], [0.0, None, 8.0, 1.0]
    assert spark(moments, values, start=0.0, end=4.0, width=4, top=8.0) == "▁ █▂"


def test_a_stretch_of_a_spark_shows_its_largest_value() -> None:
    moments = [float(number) for number in range(10)]
    values = [9.0 if number == 3 else 0.0 for number in range(10)]
    assert spark(moments, values, start=0.0, end=10.0, width=2, top=9.0) == "█▁"
