"""The folder of weights, refused or accepted before anything is sent."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from planner.staging.errors import StagingError
from planner.staging.source import INDEX, doubts, scan

PREFIX = "models/chat/v1/"


def refusal(folder: Path) -> StagingError:
    with pytest.raises(StagingError) as refused:
        scan(folder, PREFIX)
    return refused.value


def test_files_come_sorted_with_their_sizes(tmp_path: Path) -> None:
    (tmp_path / "b.safetensors").write_bytes(b"12")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.json").write_bytes(b"1")
    assert [(file.path, file.size) for file in scan(tmp_path, PREFIX)] == [
        ("a/x.json", 1),
        ("b.safetensors", 2),
    ]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / ".gitattributes").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("x")
    assert [file.path for file in scan(tmp_path, PREFIX)] == ["config.json"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("none", "no such folder"),
        ("file", "a file"),
        ("empty", "an empty folder"),
        ("pipe", "no folder"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
    ids=["absent", "file", "empty", "pipe", "loop of links", "name too long"],
)
def test_what_is_no_folder_of_weights_is_refused(tmp_path: Path, name: str, given: str) -> None:
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / name).problems[0].given == given


def test_every_shard_that_the_index_names_must_be_there(tmp_path: Path) -> None:
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-3.safetensors"}
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": shards}))
    (tmp_path / "model-2.safetensors").write_bytes(b"x")
    paths = [Path(problem.path).name for problem in refusal(tmp_path).problems]
    assert paths == ["model-1.safetensors", "model-3.safetensors"]


def test_a_folder_with_all_its_shards_is_accepted(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"a": "model-1.safetensors"}}))
    (tmp_path / "model-1.safetensors").write_bytes(b"x")
    assert len(scan(tmp_path, PREFIX)) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": 3}'])
def test_an_index_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / INDEX).write_text(text)
    assert refusal(tmp_path).problems[0].path.endswith(INDEX)


def test_a_broken_link_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "nowhere")
    assert refusal(tmp_path).problems[0].path.endswith("model.safetensors")


def test_a_manifest_in_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert "manifest" in refusal(tmp_path).problems[0].given


def test_all_reasons_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")
    (tmp_path / INDEX).write_text("{}")
    assert len(refusal(tmp_path).problems) == 3


def test_a_size_far_from_the_settings_and_missing_parts_are_doubts(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"x" * 1024)
    found = doubts(scan(tmp_path, PREFIX), weights_gib=15)
    assert len(found) == 2
    assert "weightsGiB" in found[1]


def test_a_folder_as_the_settings_describe_it_raises_no_doubt(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x" * 1024)
    assert doubts(scan(tmp_path, PREFIX), weights_gib=1024 / 2**30) == []


def test_a_changed_file_is_noticed_by_size_and_by_time(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"one")
    file = scan(tmp_path, PREFIX)[0]
    assert file.same()
    path.write_bytes(b"more")
    assert not file.same()
    path.unlink()
    assert not file.same()


def test_a_folder_below_that_can_not_be_read_makes_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root user reads every folder, so the refusal is the system call's."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "shards").mkdir()
    listed = os.scandir

    def denied(path: str) -> object:
        if str(path).endswith("shards"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", denied)
    assert [problem.given for problem in refusal(tmp_path).problems] == ["Permission denied"]
