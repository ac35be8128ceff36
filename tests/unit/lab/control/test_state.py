"""The memory of a lab between commands."""

import os
from pathlib import Path

import pytest

from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.plane import attach, down
from lab.control.settings import LabSettings
from lab.control.single import stop
from lab.control.state import State, load, loaded, locked, save


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    state = State(settings=LabSettings(hpa_sync_seconds=10), ports={"etcd": 21000}, pods="127.10.0.0/16")
    save(layout, state)
    assert load(layout) == state


def test_a_state_with_fields_of_a_later_version_is_still_read(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.state.write_text('{"ports": {"etcd": 21000}, "later": 1, "settings": {"later": 2}}')
    assert loaded(layout).ports == {"etcd": 21000}


def test_a_file_that_is_no_state_is_refused_with_the_way_out(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.state.write_text("half a fi")
    with pytest.raises(LabError, match="delete"):
        load(layout)


def test_a_folder_without_a_lab_is_refused_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no lab in .*`headroom lab up`"):
        attach(tmp_path / "none")
    with pytest.raises(LabError, match="no lab"):
        stop(tmp_path / "none", "etcd")
    assert not (tmp_path / "none").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    assert down(tmp_path / "mine") == []
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_second_command_waits_and_then_names_the_first(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with (
        locked(layout),
        pytest.raises(LabError, match=f"process {os.getpid()}"),
        locked(layout, seconds=0.2),
    ):
        pass
