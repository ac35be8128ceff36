"""The user's stack file is read, never written, and never opened where it is sealed."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lab.cloud import stackfile


def _project(folder: Path, text: str) -> Path:
    (folder / "Pulumi.yaml").write_text("name: headroom\nruntime: python\ndescription: x\n", encoding="utf-8")
    (folder / "Pulumi.dev.yaml").write_text(text, encoding="utf-8")
    return folder


def test_settings_are_copied_word_for_word(tmp_path: Path) -> None:
    text = 'config:\n  headroom:schedule: {start: "45 8 * * 1-5", version: "1.35"}\n'
    assert stackfile.copy(_project(tmp_path, text), "dev", tmp_path / "work") == []
    assert (tmp_path / "work" / "Pulumi.dev.yaml").read_text(encoding="utf-8") == text


def test_the_engines_salt_survives_the_next_copy(tmp_path: Path) -> None:
    project, work = _project(tmp_path, "config: {}\n"), tmp_path / "work"
    stackfile.copy(project, "dev", work)
    with (work / "Pulumi.dev.yaml").open("a", encoding="utf-8") as file:
        file.write("encryptionsalt: v1:abc\n")
    stackfile.copy(project, "dev", work)
    assert YAML(typ="safe").load(work / "Pulumi.dev.yaml") == {"config": {}, "encryptionsalt": "v1:abc"}


def test_a_sealed_secret_stays_sealed(tmp_path: Path) -> None:
    text = "secretsprovider: awskms://alias/x\nencryptedkey: abc\nconfig:\n  headroom:token: {secure: AAAB}\n"
    notes = stackfile.copy(_project(tmp_path, text), "dev", tmp_path / "work")
    assert YAML(typ="safe").load(tmp_path / "work" / "Pulumi.dev.yaml") == {
        "config": {"headroom:token": stackfile.SEALED}
    }
    assert notes == [
        "headroom:token: the secret stays sealed; the program reads 'sealed-in-the-stack-file' instead"
    ]


def test_a_secret_deep_in_a_section_stays_sealed_too(tmp_path: Path) -> None:
    text = "config:\n  headroom:platform: {keda: {values: {list: [{token: {secure: AAAB}}]}}}\n"
    [note] = stackfile.copy(_project(tmp_path, text), "dev", tmp_path / "work")
    assert note.startswith("headroom:platform.keda.values.list[0].token: the secret stays sealed")
    written = (tmp_path / "work" / "Pulumi.dev.yaml").read_text()
    assert "AAAB" not in written
    assert stackfile.SEALED in written


def test_an_environment_is_left_out_and_named(tmp_path: Path) -> None:
    (note,) = stackfile.copy(
        _project(tmp_path, "environment: [headroom/dev]\nconfig: {}\n"), "dev", tmp_path / "work"
    )
    assert "environment is left out" in note


def test_an_empty_file_is_a_stack_without_settings(tmp_path: Path) -> None:
    assert stackfile.copy(_project(tmp_path, ""), "dev", tmp_path / "work") == []


@pytest.mark.parametrize("text", ["config: [", "- a\n", "plain"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(stackfile.StackFileError, match=r"Pulumi\.dev\.yaml: given .*; allowed "):
        stackfile.copy(_project(tmp_path, text), "dev", tmp_path / "work")
