"""Programs and providers that break: one clear line, no traceback, nothing left behind."""

import json
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from lab.cloud.engine import EngineError
from lab.cloud.outcome import Outcome
from lab.cloud.provider import RecordedProvider
from lab.cloud.session import RecordedCloud
from tests.engine.cloud import projects
from tests.engine.cloud.conftest import Make
from tests.engine.cloud.projects import SERVING, Project

_BUCKET = "import pulumi_aws as aws\n\naws.s3.Bucket('weights')\n"


def test_an_error_in_the_program_is_one_line_that_says_where(make: Make) -> None:
    outcome = make("import pulumi\n\n\nraise ValueError('no zones')\n").preview()
    assert outcome.status == "failed"
    assert outcome.problems == ("ValueError: no zones (__main__.py:4)",)


def test_an_error_in_an_apply_is_one_line_that_says_where(make: Make) -> None:
    source = (
        "import pulumi\n\n\ndef broken(value):\n    raise KeyError('zones')\n\n\n"
        "pulumi.Output.from_input(1).apply(broken)\n"
    )
    outcome = make(source).preview()
    assert outcome.status == "failed"
    assert outcome.problems == ("KeyError: 'zones' (__main__.py:5)",)


def test_a_program_that_refuses_its_settings_is_heard_word_for_word(make: Make) -> None:
    outcome = make(
        "import pulumi\n\nraise pulumi.RunError('network.zones: given none; allowed 2 or more')\n"
    ).preview()
    assert outcome.problems == ("network.zones: given none; allowed 2 or more",)


def test_a_program_that_exits_says_with_what(make: Make) -> None:
    assert make("raise SystemExit(3)\n").preview().problems == (
        "the program stopped itself with exit status 3",
    )


def test_what_a_program_prints_is_a_message_of_the_engine(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = make("print('hello')\nraise SystemExit('stop here')\n").preview()
    assert [(said.severity, said.message) for said in outcome.diagnostics] == [
        ("info", "hello"),
        ("error", "stop here"),
    ]
    assert capsys.readouterr().out == ""


def test_a_syntax_error_names_the_line(make: Make) -> None:
    (problem,) = make("import pulumi\nvpc = (\n").preview().problems
    assert problem.startswith("SyntaxError: '(' was never closed")
    assert "line 2" in problem


def test_a_provider_that_breaks_is_one_clear_line(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: RecordedProvider, request: object, context: object) -> None:
        raise ConnectionError("nothing answers")

    monkeypatch.setattr(RecordedProvider, "Create", broken)
    outcome = make(_BUCKET).cloud.up("dev")
    assert outcome.status == "failed"
    assert "the recorded aws provider broke: ConnectionError: nothing answers" in outcome.problems[0]
    assert caplog.records == []


def test_after_a_failure_the_next_run_continues(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(_BUCKET)
    with monkeypatch.context() as patched:
        patched.setattr(RecordedProvider, "Create", None)
        assert project.cloud.up("dev").status == "failed"
    assert project.up().changes["create"] == 1


def _lock(project: Project, pid: int) -> Path:
    project.up()
    (history,) = (project.cloud.state / "backend").glob(".pulumi/stacks/**/dev.json")
    lock = (
        project.cloud.state
        / "backend"
        / ".pulumi"
        / "locks"
        / "organization"
        / "headroom"
        / "dev"
        / "left.json"
    )
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(
        json.dumps({"pid": pid, "username": "u", "hostname": socket.gethostname()}), encoding="utf-8"
    )
    assert history.is_file()
    return lock


def test_the_lock_of_a_killed_run_is_released(make: Make) -> None:
    project = make(_BUCKET)
    gone = subprocess.Popen(["true"])
    gone.wait()
    lock = _lock(project, gone.pid)
    assert project.up().changed == 0
    assert not lock.exists()


def test_a_run_beside_another_says_so(make: Make) -> None:
    project = make(_BUCKET)
    _lock(project, os.getpid())
    outcome = project.cloud.up("dev")
    assert outcome.problems == (
        "stack: given dev, which another run uses; allowed one run at a time; wait for it",
    )


def test_a_missing_cli_is_named(tmp_path: Path) -> None:
    projects.write(tmp_path / "project", "")
    cloud = RecordedCloud(tmp_path / "project", tmp_path / "state", tmp_path / "nowhere" / "pulumi")
    with pytest.raises(
        EngineError, match=r"pulumi: given .*nowhere/pulumi; allowed the path of the Pulumi CLI"
    ):
        cloud.__enter__()


def test_no_thread_outlives_an_operation(make: Make) -> None:
    project = make(_BUCKET)
    before = {thread.name for thread in threading.enumerate()}
    project.up()
    assert {thread.name for thread in threading.enumerate() if not thread.daemon} <= before


def test_two_sessions_at_once_do_not_meet(make: Make) -> None:
    other = make(SERVING.replace('"headroom-dev"', '"headroom-other"'))
    mine = make(SERVING)
    outcomes: dict[str, Outcome] = {}

    def bring_up(name: str, project: Project) -> None:
        outcomes[name] = project.cloud.up("dev")

    threads = [threading.Thread(target=bring_up, args=pair) for pair in (("other", other), ("mine", mine))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcomes[name].problems for name in ("other", "mine")] == [(), ()]
    assert outcomes["other"].outputs["clusterName"] == "headroom-other"
    assert outcomes["mine"].outputs["clusterName"] == "headroom-dev"
