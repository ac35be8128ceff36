"""Processes are known again, ended, and never mistaken for a stranger's."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.control import process
from lab.control.component import Component, Health
from lab.control.errors import LabError
from lab.control.process import Identity

Started = Callable[..., Identity]


def _gone(identity: Identity) -> bool:
    deadline = time.monotonic() + 10
    while process.find(identity) and time.monotonic() < deadline:
        time.sleep(0.01)
    return process.find(identity) is None


def test_a_started_process_is_found_and_one_that_ended_is_not(started: Started) -> None:
    assert process.find(started()) is not None
    assert _gone(started("exit 3"))


def test_a_process_with_the_same_pid_and_another_birth_is_a_stranger(started: Started) -> None:
    identity = started()
    stranger = identity.model_copy(update={"born": identity.born + "0"})
    process.stop((stranger, 0.0))
    assert not process.kill(stranger)
    assert process.find(identity) is not None


def test_a_process_that_changes_its_title_is_still_ours(started: Started) -> None:
    identity = started("exec -a another-title sleep 60")
    assert process.find(identity) is not None
    time.sleep(0.1)
    assert process.find(identity) is not None


def test_a_process_that_ignores_the_polite_signal_is_killed_after_its_grace(
    started: Started, tmp_path: Path
) -> None:
    identity = started("trap '' TERM; echo ready; while true; do sleep 0.1; done")
    while "ready" not in (tmp_path / "x.log").read_text():
        time.sleep(0.01)
    process.stop((identity, 0.2))
    assert process.find(identity) is None


def test_no_cloud_credential_or_proxy_of_the_user_reaches_a_component(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    assert _gone(started("env"))
    seen = (tmp_path / "x.log").read_text()
    assert "PATH=" in seen
    assert "AWS" not in seen
    assert "PROXY" not in seen


def test_files_are_written_at_each_start_and_initial_ones_only_once(tmp_path: Path) -> None:
    component = Component(
        name="x",
        argv=("/bin/true",),
        health=Health(url="http://127.0.0.1:9/"),
        files={tmp_path / "d" / "always": "new"},
        initial={tmp_path / "d" / "once": "new"},
    )
    (tmp_path / "d").mkdir()
    for name in ("always", "once"):
        (tmp_path / "d" / name).write_text("old")
    assert _gone(process.start(component, tmp_path / "x.log"))
    assert (tmp_path / "d" / "always").read_text() == "new"
    assert (tmp_path / "d" / "once").read_text() == "old"


def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    component = Component(name="etcd", argv=("/nonexistent/etcd",), health=Health(url="http://127.0.0.1:9/"))
    with pytest.raises(LabError, match=r"etcd can't be started: .*/nonexistent/etcd"):
        process.start(component, tmp_path / "x.log")
