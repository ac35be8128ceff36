"""A watch as people see it: drawn, told line by line, or refused."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from lab.control.errors import LabError
from lab.watch.record import Recorder, read
from lab.watch.show import show
from lab.watch.targets import of_cluster, of_lab, staged_stack
from lab.watch.watcher import Watcher
from specs.problems import SettingsError
from tests.unit.lab.fleet.bodies import local
from tests.unit.lab.watch.answers import PATHS, QUERY, deployment, items, sampler, serving, vector

WELL = {
    QUERY: vector({"llama3-8b/rate": "6.5"}),
    **{path: items() for path in PATHS.values()},
    PATHS["deployments"]: items(deployment("llama3-8b", 9)),
}


def shown(console: Console, folder: Path, *, screen: bool = False) -> str:
    """A watch that ends with its first sample."""
    with (
        serving(WELL) as url,
        sampler(url, url) as made,
        Recorder(folder) as recorder,
        Watcher(made, seconds=60, recorder=recorder) as watcher,
    ):
        looks = iter(range(1000))

        def until() -> bool:
            return watcher.history.last is not None and next(looks) > 0

        show(watcher, console, until, title="local", screen=screen)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_where_no_terminal_is_a_line_tells_all(tmp_path: Path) -> None:
    text = shown(Console(file=io.StringIO(), width=80, soft_wrap=True), tmp_path)
    assert "llama3-8b 6.5 req/s, queue -, held -" in text
    assert "desired 9" in text
    assert "\x1b" not in text


def test_on_a_terminal_the_last_picture_stays_after_the_screen_is_left(tmp_path: Path) -> None:
    console = Console(
        file=io.StringIO(),
        width=80,
        height=24,
        force_terminal=True,
        color_system=None,
        _environ={"TERM": "xterm"},
    )
    text = shown(console, tmp_path, screen=True)
    assert "llama3-8b" in text.rpartition("\x1b[?1049l")[2]


def test_a_watch_is_recorded(tmp_path: Path) -> None:
    shown(Console(file=io.StringIO()), tmp_path)
    (first,) = read(tmp_path).samples
    assert first.models[0].desired == 9


def kubeconfig(folder: Path, server: str) -> Path:
    path = folder / "config"
    path.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )
    return path


def test_a_cluster_is_watched_through_its_context_and_a_forwarded_prometheus(tmp_path: Path) -> None:
    with serving(WELL) as url:
        target = of_cluster("prod", kubeconfig(tmp_path, url), "prod", local(), url)
        target.close()
    assert target.name == "prod on prod"


def test_a_cluster_that_does_not_answer_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    away = "http://127.0.0.1:9"
    with pytest.raises(SettingsError) as caught:
        of_cluster("prod", kubeconfig(tmp_path, away), "prod", local(), away)
    assert [problem.path for problem in caught.value.problems] == ["--context", "--prometheus"]
    assert "Connection refused" in caught.value.problems[0].allowed
    assert "127.0.0.1" in caught.value.problems[1].fix


def test_a_context_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Context 'nope' not found"):
        of_cluster("nope", kubeconfig(tmp_path, "http://127.0.0.1:9"), "prod", local())


@pytest.mark.parametrize("text", ["", "[1, 2]", "{a: [", '{"clusters": 3}'])
def test_a_kubeconfig_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(SettingsError):
        of_cluster("prod", tmp_path / "config", "prod", local())


def test_a_folder_without_a_lab_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="There is no lab"):
        of_lab(tmp_path, "local", local())


def test_the_stack_file_of_a_lab_is_that_of_the_stack_on_it(tmp_path: Path) -> None:
    assert staged_stack(tmp_path) is None
    (tmp_path / "stack" / "project").mkdir(parents=True)
    path = tmp_path / "stack" / "project" / "Pulumi.local.yaml"
    path.touch()
    assert staged_stack(tmp_path) == path
