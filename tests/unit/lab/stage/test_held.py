"""Whose lab it is."""

from pathlib import Path

import pytest

from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.settings import AwsSettings, LabSettings
from lab.control.state import State, save
from lab.stage.held import refuse_another


def _lab(folder: Path, cluster: str) -> Path:
    save(Layout(folder), State(settings=LabSettings(aws=AwsSettings(cluster=cluster))))
    return folder


def test_a_lab_of_another_stack_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = _lab(tmp_path, "headroom-dev")
    with pytest.raises(LabError, match=r"holds the cluster headroom-dev; .*headroom lab down --state"):
        refuse_another(folder, "prod")


@pytest.mark.parametrize("cluster", ["headroom", "headroom-prod"])
def test_a_bare_lab_and_ones_own_are_taken(tmp_path: Path, cluster: str) -> None:
    refuse_another(_lab(tmp_path, cluster), "prod")


def test_a_folder_without_a_lab_is_taken(tmp_path: Path) -> None:
    refuse_another(tmp_path / "new", "prod")
