"""The measured capacity in the stack file: one entry changes, comments and layout stay."""

from __future__ import annotations

import difflib
import errno
from pathlib import Path

import pytest

from planner.calibrate import Calibration, CalibrationError, write_capacity
from planner.calibrate.result import Bound
from specs.problems import SettingsError
from specs.settings import read
from specs.settings.source import load

PROJECT = Path(__file__).resolve().parents[4]


def measured(bound: Bound = "measured") -> Calibration:
    return Calibration(2.3456, 1200.4, 250.0, 1.5, 2.0, bound, "load")


def copied(stack: str, folder: Path) -> Path:
    path = folder / f"Pulumi.{stack}.yaml"
    path.write_text((PROJECT / path.name).read_text(encoding="utf-8"), encoding="utf-8")
    return path


def changed(before: str, after: str) -> list[str]:
    return [
        line
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_one_line_of_a_shipped_stack_changes_and_nothing_else(stack: str, tmp_path: Path) -> None:
    path = copied(stack, tmp_path)
    before = path.read_text(encoding="utf-8")
    write_capacity(path, "llama3-8b", measured())
    lines = changed(before, path.read_text(encoding="utf-8"))
    assert [line[0] for line in lines] == ["-", "+"]
    assert (
        lines[1].strip("+ ") == "capacity: {requestsPerSecond: 2.34, promptTokens: 1200, outputTokens: 250}"
    )


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_the_settings_read_back_have_the_new_capacity(stack: str, tmp_path: Path) -> None:
    path = copied(stack, tmp_path)
    write_capacity(path, "mistral-7b", measured())
    models = {model.name: model for model in read(load(path).config).models}
    found = models["mistral-7b"].capacity
    assert found is not None
    assert (found.requests_per_second, found.prompt_tokens, found.output_tokens) == (2.34, 1200, 250)
    other = models["llama3-8b"].capacity
    assert other is not None
    assert other.requests_per_second == 1.65


BLOCK = """\
# top
config:
    aws:region: us-east-1   # where
    headroom:gpuPools:
    -   name: gpu
        families: [g5]
        gpuLimit: 4
    headroom:gpuBudget:
        maxGpus: 4
    headroom:models:
    # the only one
    -   name: "chat"        # quoted
        pool: gpu
        model: owner/chat
        weightsGiB: 15
        capacity:
            requestsPerSecond: 1   # measured by hand
            promptTokens: 10
            outputTokens: 10
        replicas: {min: 1, max: 2}
"""


def test_a_block_of_another_layout_keeps_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(BLOCK)
    write_capacity(path, "chat", measured())
    lines = changed(BLOCK, path.read_text())
    assert [
        line for line in lines if line.startswith("+") and "2.34" in line and "# measured by hand" in line
    ]
    assert len(lines) == 6


def test_a_model_without_a_capacity_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    text = BLOCK.replace(BLOCK[BLOCK.index("        capacity:") : BLOCK.index("        replicas:")], "")
    path.write_text(text)
    write_capacity(path, "chat", measured())
    lines = changed(text, path.read_text())
    assert [line.strip("+ ") for line in lines] == [
        "capacity: {requestsPerSecond: 2.34, promptTokens: 1200, outputTokens: 250}"
    ]


def test_a_rate_that_missed_the_slo_is_not_written(tmp_path: Path) -> None:
    path = copied("dev", tmp_path)
    before = path.read_bytes()
    with pytest.raises(CalibrationError):
        write_capacity(path, "llama3-8b", measured("atMost"))
    assert path.read_bytes() == before


def test_a_model_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = copied("dev", tmp_path)
    before = path.read_bytes()
    with pytest.raises(CalibrationError) as refused:
        write_capacity(path, "lama", measured())
    assert "llama3-8b" in refused.value.problems[0].allowed
    assert path.read_bytes() == before


def test_a_file_that_is_no_stack_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text("config: {a: b}\n")
    with pytest.raises(CalibrationError):
        write_capacity(path, "chat", measured())
    with pytest.raises(SettingsError):
        write_capacity(tmp_path / "none.yaml", "chat", measured())


def test_a_link_to_a_stack_file_stays_a_link(tmp_path: Path) -> None:
    path, link = copied("dev", tmp_path), tmp_path / "link.yaml"
    link.symlink_to(path)
    write_capacity(link, "llama3-8b", measured())
    assert link.is_symlink()
    assert "2.34" in path.read_text()


def test_rights_stay_and_no_other_file_is_left(tmp_path: Path) -> None:
    path = copied("dev", tmp_path)
    path.chmod(0o640)
    write_capacity(path, "llama3-8b", measured())
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_takes_no_file_is_told_with_the_line_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root user may write everywhere, so the refusal is the system call's."""
    path = copied("dev", tmp_path)
    before = path.read_bytes()

    def denied(*_: object, **__: object) -> tuple[int, str]:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", denied)
    with pytest.raises(CalibrationError) as refused:
        write_capacity(path, "llama3-8b", measured())
    assert refused.value.problems[0].given == "Permission denied"
    assert "requestsPerSecond" in refused.value.problems[0].fix
    assert path.read_bytes() == before
