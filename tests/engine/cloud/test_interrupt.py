"""A run that somebody ends: the policy pack ends with it, nothing stays behind, and there is no traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.engine.cloud import projects

PROJECT = Path(__file__).parents[3]
_PACK = """
import os, tempfile, time
from pathlib import Path
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def slow(args, report):
    tempfile.mkdtemp(prefix="automation-")
    mark = Path(__file__).with_name("pid")
    mark.with_suffix(".new").write_text(str(os.getpid()))
    mark.with_suffix(".new").rename(mark)
    time.sleep(120)

PolicyPack("slow", [ResourceValidationPolicy("slow", "Takes its time.", slow, EnforcementLevel.MANDATORY)])
"""
_RUN = """
import sys
from pathlib import Path
from lab.cloud.pack import PolicyPack
from lab.cloud.session import RecordedCloud
folder, cli = map(Path, sys.argv[1:])
with RecordedCloud(folder / "project", folder / "state", cli) as cloud:
    cloud.preview("dev", pack=PolicyPack(path=folder / "pack"))
"""
_ENDED = {signal.SIGINT: "except KeyboardInterrupt", signal.SIGTERM: "except SystemExit"}


@pytest.mark.parametrize("number", _ENDED)
def test_an_ended_run_leaves_nothing_behind(number: signal.Signals, cli: Path, tmp_path: Path) -> None:
    projects.write(tmp_path / "project", "import pulumi_aws as aws\n\naws.s3.Bucket('weights')\n")
    for folder in ("pack", "tmp"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pack" / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (tmp_path / "pack" / "__main__.py").write_text(_PACK)
    body = _RUN.replace("\n", "\n    ").rstrip()
    handler = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{handler}try:{body}\n{_ENDED[number]}:\n    print('ended')\n",
            tmp_path,
            cli,
        ],
        cwd=PROJECT,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    mark = tmp_path / "pack" / "pid"
    try:
        until = time.monotonic() + 120
        while not mark.exists() and child.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        assert mark.exists(), child.poll()
        # A terminal's Ctrl-C goes to all of the group, a supervisor's SIGTERM to the one process.
        (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)
        stdout, stderr = child.communicate(timeout=90)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    assert (stdout, stderr, child.returncode) == ("ended\n", "", 0)
    assert not psutil.pid_exists(int(mark.read_text()))
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list((tmp_path / "state" / "tmp").iterdir()) == []
