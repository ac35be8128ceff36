"""A run on disk."""

from pathlib import Path

import pytest

from lab.watch.events import Event
from lab.watch.record import EVENTS, SAMPLES, Recorder, RecordError, read
from tests.unit.lab.watch.answers import node, sample

EVENT = Event(at=1.0, kind="phase", text="burst")


def recorded(folder: Path) -> Path:
    with Recorder(folder) as recorder:
        recorder.sample(sample(0.0, node("a")))
        recorder.sample(sample(2.0, problems={"prometheus": "away"}))
        recorder.event(EVENT)
    return folder


def test_a_run_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    found = read(recorded(tmp_path / "run"))
    assert list(found.samples) == [sample(0.0, node("a")), sample(2.0, problems={"prometheus": "away"})]
    assert list(found.events) == [EVENT]


def test_a_last_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    with (folder / SAMPLES).open("a") as file:
        file.write('{"at": 4.0, "mod')
    assert len(read(folder).samples) == 2


def test_a_line_that_is_no_sample_is_refused_with_its_number(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    with (folder / SAMPLES).open("a") as file:
        file.write('{"when": 4.0}\n')
    with pytest.raises(RecordError, match=r"samples\.jsonl, line 3 is no sample"):
        read(folder)


def test_a_folder_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=SAMPLES):
        read(tmp_path)


def test_a_second_run_in_the_same_folder_continues_the_record(tmp_path: Path) -> None:
    recorded(tmp_path)
    recorded(tmp_path)
    assert len(read(tmp_path).samples) == 4
    assert (tmp_path / EVENTS).read_text().count("\n") == 2
