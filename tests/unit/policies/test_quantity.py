"""Quantities, percentages and durations as Kubernetes and Go read them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.plain import UNKNOWN, Plain
from policies.quantity import quantity, seconds, share, text, whole


@pytest.mark.parametrize("written", [8, 8.0, "8", "8.0", "8000m", "0.008k", "8e0", "+8", "8."])
def test_eight_gpus_are_eight_however_they_are_written(written: Plain) -> None:
    assert quantity(written) == 8


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("1k", 1000),
        ("1Ki", 1024),
        ("2E", 2 * 10**18),
        ("2e3", 2000),
        ("500m", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
    ],
)
def test_suffixes_and_exponents_scale_exactly(written: Plain, exact: Fraction) -> None:
    assert quantity(written) == exact


@pytest.mark.parametrize(
    "written",
    [
        None,
        True,
        "",
        " 8",
        "8 ",
        "eight",
        "8K",
        "1e",
        "0x8",
        "--8",
        float("nan"),
        float("inf"),
        [8],
        UNKNOWN,
        "9" * 99,
    ],
)
def test_what_the_api_server_refuses_is_no_quantity(written: Plain) -> None:
    assert quantity(written) is None


@pytest.mark.parametrize(
    ("value", "of", "up", "down"),
    [("25%", 1, 1, 0), ("25%", 10, 3, 2), ("50%", 3, 2, 1), ("100%", 7, 7, 7), ("0%", 7, 0, 0), (2, 7, 2, 2)],
)
def test_percentages_round_both_ways_as_intstr_does(value: Plain, of: int, up: int, down: int) -> None:
    assert (share(value, of, round_up=True), share(value, of, round_up=False)) == (up, down)


@pytest.mark.parametrize("value", ["-1", -1, "1.5%", "%", "half", None, True, 1.5])
def test_what_is_neither_a_count_nor_a_percentage_is_none(value: Plain) -> None:
    assert share(value, 10, round_up=True) is None


def test_digits_in_a_string_count_as_an_integer_and_fractions_do_not() -> None:
    assert (whole("12"), whole(12.0), whole(12.5), whole("12.0"), whole(True)) == (12, 12, None, None, None)


@pytest.mark.parametrize(
    ("value", "exact"), [("720h", 2592000), ("1h30m", 5400), ("90s", 90), ("1.5m", 90), ("500ms", 0.5)]
)
def test_go_durations_are_read_in_seconds(value: Plain, exact: float) -> None:
    assert seconds(value) == Fraction(exact)


@pytest.mark.parametrize("value", ["Never", "30", 30, "", "1d", None])
def test_what_is_no_duration_is_none(value: Plain) -> None:
    assert seconds(value) is None


def test_a_number_of_thousands_of_digits_can_be_shown() -> None:
    assert text(10**6000) == "more than 10^60"


@given(st.integers(min_value=0, max_value=10**12))
def test_every_spelling_of_an_integer_gives_the_same_number(number: int) -> None:
    spellings: list[Plain] = [number, str(number), f"{number}000m", f"{number}.0", f"{number}e0"]
    assert {quantity(spelling) for spelling in spellings} == {Fraction(number)}


@given(st.text(max_size=30))
def test_no_text_makes_the_parsers_raise(written: str) -> None:
    quantity(written)
    seconds(written)
    whole(written)
    share(written, 10, round_up=True)
