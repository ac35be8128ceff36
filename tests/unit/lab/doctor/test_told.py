"""A diagnosis as a table and as JSON."""

import io
import json
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from lab.doctor.diagnosis import Diagnosis, diagnose
from lab.doctor.kinds import SCALED_OBJECT
from lab.doctor.seen import Unread
from lab.doctor.table import render
from tests.unit.lab.doctor.well import AWAKE, World

PROJECT = Path(__file__).parents[4]
SCHEMA = json.loads((PROJECT / "docs/json/doctor.schema.json").read_text(encoding="utf-8"))


def diagnosis(*, broken: bool = False) -> Diagnosis:
    world = World()
    if broken:
        world.object(SCALED_OBJECT, AWAKE)["metadata"]["annotations"] = {"autoscaling.keda.sh/paused": "true"}
        world.change(targets=Unread("Connection refused"), groups=Unread("Connection refused"))
    return diagnose(world.seen, world.settings, "local", "local on the lab")


def shown(found: Diagnosis, width: int) -> list[str]:
    told = io.StringIO()
    render(found, Console(file=told, width=width, soft_wrap=True))
    return [line.rstrip() for line in told.getvalue().splitlines()]


@pytest.mark.parametrize("broken", [False, True])
def test_json_is_as_its_schema_says(broken: bool) -> None:
    document = json.loads(json.dumps(diagnosis(broken=broken).as_json()))
    jsonschema.validate(document, SCHEMA, format_checker=jsonschema.FormatChecker())
    assert document["verdict"] == ("fail" if broken else "pass")
    assert sum(document["counts"].values()) == len(document["checks"])


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_table_keeps_within_the_terminal(width: int) -> None:
    assert max(map(len, shown(diagnosis(broken=True), width))) <= width


def test_what_fails_comes_first_with_its_way_out_and_is_named_at_the_end() -> None:
    lines = shown(diagnosis(broken=True), 140)
    first = next(at for at, line in enumerate(lines) if line == AWAKE) + 3
    assert lines[first].startswith("fail     not-paused")
    assert "→ kubectl -n llm-serving annotate scaledobject" in lines[first + 1]
    assert lines[-2].startswith("fail: 1 fail, ")
    assert lines[-1] == f"failed: {AWAKE}/not-paused"


def test_a_passing_check_has_no_way_out() -> None:
    assert not [line for line in shown(diagnosis(), 140) if "→" in line]


def test_what_is_unknown_for_one_reason_is_told_once() -> None:
    lines = shown(diagnosis(broken=True), 140)
    reasons = [line for line in lines if "Prometheus' targets could not be read" in line]
    assert len(reasons) == 2  # one a model, though each has two kinds of targets
