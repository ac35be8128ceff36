"""`headroom replay`: what it says where a trace is met late."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from cli.app import app

PROJECT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((PROJECT / "docs/json/replay.schema.json").read_text(encoding="utf-8"))
PROD = ("replay", "--stack", "prod")


@pytest.fixture(scope="module")
def bursts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hours of a trickle with a minute of a burst each twenty."""
    path = tmp_path_factory.mktemp("trace") / "bursts.csv"
    rates = [9 if minute % 20 == 0 else 1 for minute in range(240)]
    path.write_text("t_s,rps\n" + "".join(f"{60 * n},{rate}\n" for n, rate in enumerate(rates)))
    return path


def test_bursts_shorter_than_a_start_get_a_floor_and_its_price(bursts: Path) -> None:
    ran = CliRunner().invoke(app, [*PROD, "--trace", str(bursts)])
    assert ran.exit_code == 0
    said = " ".join(ran.stdout.split())
    assert "against bursts shorter than that nothing beats a floor" in said
    assert "replicas.min" in said
    assert "USD a month" in said


def test_the_json_names_the_floor_for_the_stacks_own_policy_alone(bursts: Path) -> None:
    words = [*PROD, "--trace", str(bursts), "--json", "--policy", "ours", "--policy", "published"]
    ours, published = json.loads(CliRunner().invoke(app, words).stdout)
    jsonschema.validate([ours, published], SCHEMA)
    assert ours["violationShare"] > 0.005
    assert ours["recommendedFloor"]["replicas"] > 2
    assert published["recommendedFloor"] is None


def test_the_report_tells_the_floor(bursts: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, [*PROD, "--trace", str(bursts), "--report", str(tmp_path)])
    assert ran.exit_code == 0
    assert "nothing beats a floor" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_load_that_is_met_in_time_gets_no_floor() -> None:
    words = [*PROD, "--trace", "generate:constant:0.05:3"]
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["recommendedFloor"] is None
    assert "floor" not in CliRunner().invoke(app, words).stdout


def test_a_trace_above_what_the_stack_may_run_is_answered_with_its_maximum() -> None:
    ran = CliRunner().invoke(app, [*PROD, "--trace", "generate:constant:0.05:40"])
    said = " ".join(ran.stdout.split())
    assert "the stack allows 10: raise replicas.max" in said
    assert "nothing beats a floor" not in said


def test_eight_policies_fit_eighty_columns() -> None:
    words = [*PROD, "--trace", "generate:constant:0.02:3", "--policy", "ours"]
    words += ["--policy", "running-plus-10-waiting"]
    ran = CliRunner(env={"COLUMNS": "80"}).invoke(app, words)
    lines = ran.stdout.splitlines()
    assert "…" not in ran.stdout
    assert max(map(len, lines)) <= 80
