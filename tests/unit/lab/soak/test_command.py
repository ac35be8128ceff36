"""`headroom lab soak`: refusals before a lab is started, and the plan on its own."""

import json
import sys

import pytest

from cli.__main__ import main
from lab.soak.plan import plan_of
from lab.soak.stack import overrides, serving
from lab.stage.project import configuration
from lab.stage.stage import PROJECT
from specs import checks


def _run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["headroom", "lab", "soak", *words])
    status = main()
    said = capsys.readouterr()
    return status, said.out, said.err


def test_minutes_out_of_bounds_are_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = _run(monkeypatch, capsys, "--minutes", "0")
    assert (status, out) == (2, "")
    assert err.startswith("--minutes: 0;")


def test_an_unknown_stack_is_refused_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = _run(monkeypatch, capsys, "--stack", "nowhere")
    assert status == 2
    assert "local" in err


def test_the_plan_is_printed_without_a_lab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = _run(monkeypatch, capsys, "--plan", "--minutes", "3", "--seed", "5")
    assert status == 0
    assert out == plan_of(5, 3, ["llama3-8b"], ["mistral-7b"]).text()
    assert all(json.loads(line)["kind"] for line in out.splitlines())


def test_the_stack_of_a_soak_is_accepted_and_has_a_second_of_everything_that_dies() -> None:
    settings, _ = checks.examine(configuration(PROJECT, "local", {}))
    assert settings is not None
    always, sleeping = serving(settings)
    assert (always, sleeping) == (["llama3-8b"], ["mistral-7b"])
    soaked, findings = checks.examine(configuration(PROJECT, "local", overrides(settings, {"llama3-8b": 3})))
    assert soaked is not None
    assert not findings.problems
    model = soaked.active_models[0]
    assert min(model.replicas.min, soaked.platform.router.replicas) == 2
    assert model.extra_args[-2:] == ("--seed", "3")
