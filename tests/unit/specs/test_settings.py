"""Reading the configuration: shapes, typos, files that are no stack files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from specs.problems import SettingsError
from specs.settings import document
from specs.settings.read import read, read_leniently
from specs.settings.source import load, stack_path

PROJECT = Path(__file__).resolve().parents[3]
STACKS = ("dev", "prod", "local")
NOTHING: dict[str, object] = {}
EMPTY: dict[str, object] = {
    "headroom:gpuPools": [],
    "headroom:gpuBudget": {"maxGpus": 1},
    "headroom:models": [],
}


@pytest.mark.parametrize("stack", STACKS)
def test_the_shipped_stacks_are_read(stack: str) -> None:
    assert read(load(stack_path(PROJECT, stack)).config).active_models


@pytest.mark.parametrize("stack", STACKS)
def test_the_editor_schema_accepts_the_shipped_stacks(stack: str) -> None:
    jsonschema.validate(
        {"config": dict(load(stack_path(PROJECT, stack)).config)}, json.loads(document.schema())
    )


def test_the_editor_schema_refuses_an_unknown_key() -> None:
    config = dict(load(stack_path(PROJECT, "dev")).config) | {"headroom:networks": NOTHING}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"config": config}, json.loads(document.schema()))


@pytest.mark.parametrize("name", ["configuration.md", "configuration.schema.json"])
def test_the_generated_documents_are_fresh(name: str, tmp_path: Path) -> None:
    document.write(tmp_path)
    assert (PROJECT / "docs" / name).read_text() == (tmp_path / "docs" / name).read_text(), "run `make docs`"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"headroom:modles": []}, "headroom:models"),
        ({"headroom:network": {"natGateway": "single"}}, "natGateways"),
        ({"headroom:cluster": {"endpoint": {"publicCidr": []}}}, "publicCidrs"),
    ],
)
def test_a_typo_in_a_key_is_answered_with_the_nearest(given: dict[str, object], meant: str) -> None:
    _, problems = read_leniently(EMPTY | given)
    assert [problem.fix for problem in problems] == [f"did you mean {meant}?"]


def test_keys_of_other_programs_are_left_alone() -> None:
    assert read(EMPTY | {"other:key": "x"}).models == ()


def test_a_missing_required_value_is_told_with_its_path() -> None:
    with pytest.raises(SettingsError) as refused:
        read(
            {
                "headroom:gpuPools": [{"name": "p"}],
                "headroom:gpuBudget": NOTHING,
                "headroom:models": [NOTHING],
            }
        )
    paths = {problem.path for problem in refused.value.problems}
    assert {"gpuPools[0].gpuLimit", "gpuBudget.maxGpus", "models[0].name", "models[0].weightsGiB"} <= paths


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        ("just a sentence", "just a sentence"),
        ("config:", "missing"),
        ("config: [1, 2]", "[1, 2]"),
        ("config: {a: [}", "line 1"),
        ("config: {a: 1}\nconfig: {b: 2}\n", "duplicate key"),
        ("config: &a {b: *a}", "Circular"),
        ("- a\n- b\n", "["),
    ],
)
def test_a_file_that_is_no_stack_file_is_refused_in_one_sentence(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "Pulumi.broken.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError) as refused:
        read(load(path).config)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value.problems[0])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        load(tmp_path / "Pulumi.none.yaml")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.binary.yaml"
    path.write_bytes(b"config: \xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(path)


def test_a_key_cannot_speak_to_the_terminal() -> None:
    _, problems = read_leniently(EMPTY | {"headroom:cluster": {"a\n\x1b[31mPWNED" + "x" * 9000: 1}})
    [line] = [str(problem) for problem in problems]
    assert line.isprintable()
    assert len(line) < 800


def test_a_section_written_as_json_text_is_read_as_the_engine_reads_it() -> None:
    assert read(EMPTY | {"headroom:gpuBudget": '{"maxGpus": 6}'}).gpu_budget.max_gpus == 6
