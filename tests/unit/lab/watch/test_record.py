"""A run on disk."""

import json
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from lab.watch.events import Event, EventKind
from lab.watch.figures import NodeState
from lab.watch.record import EVENTS, SAMPLES, Recorder, RecordError, document, read
from tests.unit.lab.watch.answers import node, sample

SCHEMA = json.loads((Path(__file__).parents[4] / "docs/json/watch.schema.json").read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("away", [False, True], ids=["there", "away"])
def test_a_line_of_json_is_what_the_schema_says(away: bool) -> None:
    looked = sample(0.0, problems={"kubernetes": "x", "prometheus": "y"}) if away else sample(0.0, node("a"))
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document(looked, [EVENT]))


def test_the_schema_knows_every_kind_of_event_and_state_of_a_node() -> None:
    parts = SCHEMA["$defs"]
    assert parts["event"]["properties"]["kind"]["enum"] == list(get_args(EventKind))
    assert parts["node"]["properties"]["state"]["enum"] == list(get_args(NodeState))
