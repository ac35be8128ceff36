"""Trace files: each form is read, each bad line is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from planner.generator import KINDS, generate
from planner.open_trace import open_trace
from planner.trace_files import MOST_SHOWN, read
from planner.traces import TraceError


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def refusal(path: Path) -> list[str]:
    with pytest.raises(TraceError) as caught:
        read(path)
    return [f"{problem.path.removeprefix(str(path))} {problem.given}" for problem in caught.value.problems]


def test_requests_are_read(tmp_path: Path) -> None:
    trace = read(write(tmp_path, "t_s,prompt_tokens,output_tokens\n0.5,10,3\n0.5,20,0\n61.2,1,1\n"))
    assert trace.times is not None
    assert list(trace.times) == [0.5, 0.5, 61.2]
    assert list(trace.requests[2]) == [3, 1, 1]
    assert trace.duration == 62


@pytest.mark.parametrize(
    ("column", "value", "rate"), [("rate_rps", "3", 3.0), ("rpm", "180", 3.0), ("rpm_est", "180", 3.0)]
)
def test_rates_are_read_in_their_unit(tmp_path: Path, column: str, value: str, rate: float) -> None:
    text = f"t_s,utc,{column},other\n0,x,{value},1\n600,x,{value},1\n"
    trace = read(write(tmp_path, text))
    assert trace.rates is not None
    assert list(trace.rates) == [rate, rate]
    assert (trace.bin_seconds, trace.duration, trace.mean_rate) == (600, 1200, rate)


def test_counts_are_read(tmp_path: Path) -> None:
    line = " ".join(["2"] * 60)
    trace = read(write(tmp_path, f"minute,counts_per_second\n0,{line}\n1,{line}\n"))
    assert trace.counts is not None
    assert trace.counts.sum() == 240
    assert trace.duration == 120


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_no_fault(tmp_path: Path) -> None:
    text = "\ufefft_s,prompt_tokens,output_tokens\r\n0,1,1\r\n\r\n1,1,1\r\n"
    assert read(write(tmp_path, text)).duration == 2


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("-1,1,1", '"-1"'),
        ("nan,1,1", '"nan"'),
        ("inf,1,1", '"inf"'),
        ("x,1,1", '"x"'),
        ("2,1", "2 columns"),
        ("0.5,1,1", "t_s 0.5 after 1"),
        ("2,1.5,1", '"1.5"'),
        ("2,-1,1", '"-1"'),
        ("2,1e300,1", '"1e300"'),
        ("2,99999999999999999999,1", '"99999999999999999999"'),
        ("99999999,1,1", "t_s 1e+08"),
    ],
)
def test_a_bad_request_is_named_with_its_line(tmp_path: Path, row: str, found: str) -> None:
    path = write(tmp_path, f"t_s,prompt_tokens,output_tokens\n1,1,1\n{row}\n")
    assert refusal(path) == [f":3 {found}"]


def test_every_bad_line_is_told_at_once_up_to_a_limit(tmp_path: Path) -> None:
    rows = "".join(f"{second},x,1\n" for second in range(50))
    found = refusal(write(tmp_path, f"t_s,prompt_tokens,output_tokens\n{rows}"))
    assert len(found) == MOST_SHOWN + 1
    assert "30 more bad lines" in found[-1]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("0,1\n600,-2\n", ':3 "-2"'),
        ("0,1\n600,nan\n", ':3 "nan"'),
        ("0,1\n600,1\n1300,1\n", ":4 t_s 1300 after 600"),
        ("600,1\n0,1\n", ":3 t_s 600 and then 0"),
        ("0,1\n", ":2 one row"),
    ],
)
def test_a_bad_rate_is_named_with_its_line(tmp_path: Path, rows: str, found: str) -> None:
    assert refusal(write(tmp_path, f"t_s,rps\n{rows}")) == [found]


def test_a_minute_without_sixty_counts_is_named(tmp_path: Path) -> None:
    full = " ".join(["1"] * 60)
    path = write(tmp_path, f"minute,counts_per_second\n0,{full}\n2,1 2 3\n")
    assert refusal(path) == [":3 minute 2", ":3 3 counts"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", " an empty file"),
        ("a,b\n1,2\n", ':1 the header "a,b"'),
        ("t_s,rps\n", ":1 a header and no rows"),
        ("\x00\x01", ':1 the header "\\u0000\\u0001"'),
        ('{"data": 1', ":1 no JSON: Expecting ',' delimiter"),
        ('{"data": {"result": []}}', " an empty result"),
        ("[]", " no data.result"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, text: str, found: str) -> None:
    assert refusal(write(tmp_path, text)) == [found]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"t_s,rps\n0,1\n600,\xff\xfe\n")
    assert "no UTF-8" in refusal(path)[0]


def exported(series: list[list[tuple[float, str]]]) -> str:
    return json.dumps(
        {
            "status": "success",
            "data": {"resultType": "matrix", "result": [{"values": item} for item in series]},
        }
    )


def test_an_exported_counter_becomes_rates_across_a_reset(tmp_path: Path) -> None:
    samples = [(100.0, "50"), (160.0, "110"), (220.0, "30"), (280.0, "90")]
    trace = read(write(tmp_path, exported([samples])))
    assert trace.rates is not None
    assert list(trace.rates) == [1.0, 0.5, 1.0]
    assert trace.bin_seconds == 60


def test_several_exported_counters_are_added_up(tmp_path: Path) -> None:
    one = [(0.0, "0"), (60.0, "60"), (120.0, "120")]
    trace = read(write(tmp_path, exported([one, one])))
    assert trace.rates is not None
    assert list(trace.rates) == [2.0, 2.0]


@pytest.mark.parametrize(
    "samples",
    [[(0.0, "0"), (60.0, "NaN")], [(60.0, "0"), (0.0, "1")], [(0.0, "1")], [(0.0, "-1"), (60.0, "1")]],
)
def test_a_bad_exported_sample_is_refused(tmp_path: Path, samples: list[tuple[float, str]]) -> None:
    assert refusal(write(tmp_path, exported([samples])))


def test_a_counter_in_csv_is_read_with_either_kind_of_time(tmp_path: Path) -> None:
    text = "timestamp,value\n2026-01-05T00:00:00Z,0\n2026-01-05T00:01:00+00:00,120\n"
    trace = read(write(tmp_path, text))
    assert trace.rates is not None
    assert list(trace.rates) == [2.0]
    assert read(write(tmp_path, "timestamp,value\n0,0\n60,120\n", "u.csv")).mean_rate == 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_made_trace_has_the_mean_asked_for_and_comes_back_from_its_seed(kind: str) -> None:
    first, again = generate(kind, 2, 4.0, 7), generate(kind, 2, 4.0, 7)
    assert first.rates is not None
    assert again.rates is not None
    assert first.rates.mean() == pytest.approx(4.0)
    assert first.rates.min() >= 0
    assert np.array_equal(first.rates, again.rates)


def test_a_made_trace_is_asked_for_by_name() -> None:
    trace = open_trace("generate:bursty:2:3")
    assert (trace.duration, trace.mean_rate) == (2 * 86_400, pytest.approx(3.0))


@pytest.mark.parametrize(
    "text",
    ["generate:waves", "generate:step:0", "generate:step:1:-1", "generate:step:x", "generate:step:1:2:3"],
)
def test_a_made_trace_that_can_not_be_is_refused(text: str) -> None:
    with pytest.raises(TraceError):
        open_trace(text)


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop of links", "absent", "name too long"])
def test_what_is_no_readable_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("x" * 300 if kind == "name too long" else "t.csv")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop of links":
        path.symlink_to(path)
    with pytest.raises(TraceError) as caught:
        read(path)
    assert caught.value.problems[0].allowed == "a readable trace file"


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"t_s,rps\n0,1\n60,\xff\n")
    assert refusal(path) == [" byte 15 is no UTF-8 text"]
