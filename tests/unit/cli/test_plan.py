"""`headroom plan`: a trace of one's own, and words that don't go together."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from cli.app import app
from specs.problems import SettingsError

PROJECT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((PROJECT / "docs/json/plan.schema.json").read_text(encoding="utf-8"))
DEV = ("plan", "--stack", "dev")
STEADY = ("--trace", "generate:constant:0.05:2")


def test_a_trace_is_the_typical_load_of_the_named_model_alone_on_both_sides_of_a_difference() -> None:
    words = [*DEV, *STEADY, "--model", "mistral-7b", "--against", str(PROJECT / "Pulumi.dev.yaml"), "--json"]
    document = json.loads(CliRunner().invoke(app, words).stdout)
    jsonschema.validate(document, SCHEMA)
    assumed = {entry["name"]: entry["typical"]["assumed"] for entry in document["models"]}
    assert assumed == {"llama3-8b": True, "mistral-7b": False}
    assert document["difference"]["changes"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("--model", "llama3-8b"),
        ("--scale", "2"),
        ("--markdown",),
        (*STEADY, "--model", "nobody"),
        (*STEADY, "--scale", "-1"),
        ("--trace", "/nowhere.csv"),
        ("--trace", "generate:nothing"),
        (*STEADY, "--against", "/nowhere.yaml"),
    ],
    ids=" ".join,
)
def test_words_that_make_no_plan_are_refused(words: tuple[str, ...]) -> None:
    ran = CliRunner().invoke(app, [*DEV, *words])
    assert isinstance(ran.exception, SettingsError)
    assert ran.stdout == ""
