"""Building a tool: what is installed, what is not, and what a person is told."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.tools import Silent, ToolError, build, ensure, find
from lab.tools.catalogue import Tool

Go = Callable[..., Path]


def test_a_tool_is_built_once_and_then_found(tool: Tool, go: Go, cache: Path) -> None:
    go(f'echo x >> "{cache}/count"; while [ "$1" != "-o" ]; do shift; done; echo built > "$2"')
    first = ensure(["hello"], Silent())["hello"]
    assert first.read_text() == "built\n"
    assert ensure(["hello"], Silent())["hello"] == first == find("hello")
    assert (cache / "count").read_text() == "x\n"


def test_an_unknown_tool_is_refused_with_the_known_ones(tool: Tool) -> None:
    with pytest.raises(ToolError, match=r"no tool 'helo'\. There are: hello"):
        ensure(["helo"], Silent())


def test_without_go_the_error_says_where_to_get_it(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError, match=r"not found on PATH.*https://go.dev/dl/"):
        ensure(["hello"], Silent())


def test_without_go_a_tool_built_before_is_still_found(
    tool: Tool, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    go()
    built = ensure(["hello"], Silent())["hello"]
    monkeypatch.setenv("PATH", "/nonexistent")
    assert find("hello") == built


def test_a_go_that_is_too_old_is_named_with_what_is_needed(tool: Tool, go: Go) -> None:
    go(version="go1.19.8")
    with pytest.raises(ToolError, match=r"Go 1\.19\.8 .* too old: hello needs Go 1\.26\.0 or newer"):
        ensure(["hello"], Silent())


def test_an_older_go_that_may_fetch_its_toolchain_is_accepted(tool: Tool, go: Go) -> None:
    go(version="go1.22.0", toolchain="auto")
    assert ensure(["hello"], Silent())["hello"].exists()


def test_an_older_go_that_may_not_fetch_is_refused_with_the_setting(tool: Tool, go: Go) -> None:
    go(version="go1.22.0", toolchain="local")
    with pytest.raises(ToolError, match="Unset GOTOOLCHAIN"):
        ensure(["hello"], Silent())


def test_a_failed_build_shows_the_end_of_its_log_and_installs_nothing(
    tool: Tool, go: Go, cache: Path
) -> None:
    go("for i in $(seq 30); do echo line $i; done; exit 1")
    with pytest.raises(ToolError) as failed:
        ensure(["hello"], Silent())
    text = str(failed.value)
    assert "line 11\n" in text
    assert "line 30" in text
    assert "line 10\n" not in text
    assert str(cache / "logs" / "hello.log") in text
    assert find("hello") is None


def test_a_full_disk_is_told_from_other_failures(tool: Tool, go: Go) -> None:
    go('echo "write x: no space left on device"; exit 1')
    with pytest.raises(ToolError, match="The disk is full"):
        ensure(["hello"], Silent())


def test_too_little_free_disk_is_refused_before_anything_is_compiled(
    tool: Tool, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    go()
    monkeypatch.setattr(build, "_FREE_BYTES", 1 << 60)
    with pytest.raises(ToolError, match="GiB free"):
        ensure(["hello"], Silent())


def test_a_cache_that_cannot_be_written_is_refused_with_the_way_out(
    tool: Tool, go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADROOM_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolError, match="set HEADROOM_CACHE"):
        ensure(["hello"], Silent())


def test_leftovers_of_a_killed_builder_are_replaced(tool: Tool, go: Go, cache: Path) -> None:
    go()
    (cache / ".partial" / "hello").mkdir(parents=True)
    (cache / ".partial" / "hello" / "hello").write_text("half")
    assert ensure(["hello"], Silent())["hello"].read_text() == "built\n"
    assert not (cache / ".partial" / "hello").exists()


def test_two_builders_at_once_build_once(tool: Tool, go: Go, cache: Path) -> None:
    go(f'echo x >> "{cache}/count"; sleep 0.5; while [ "$1" != "-o" ]; do shift; done; echo built > "$2"')
    found: list[Path] = []
    builders = [threading.Thread(target=lambda: found.append(build.build(tool, Silent()))) for _ in range(2)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert found[0] == found[1]
    assert (cache / "count").read_text() == "x\n"


def test_an_interrupted_builder_ends_its_compiler_and_leaves_nothing(tool: Tool, go: Go, cache: Path) -> None:
    go(f'echo $$ > "{cache}/compiler"; sleep 60')
    script = (
        "import lab.tools.store as store, lab.tools.build as build\n"
        "from pathlib import Path\nfrom lab.tools import Silent\nfrom lab.tools.catalogue import Tool\n"
        f"store.MODULES = Path({str(cache.parents[1] / 'modules')!r})\n"
        "tool = Tool(name='hello', module='hello', package='p', pin='p', version='v1', seconds=1)\n"
        "build.build(tool, Silent())\n"
    )
    project = Path(__file__).parents[4]
    environment = os.environ | {"PYTHONPATH": str(project)}
    builder = subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not (cache / "compiler").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    compiler = int((cache / "compiler").read_text())
    builder.send_signal(signal.SIGINT)
    builder.wait(timeout=20)
    with pytest.raises(ProcessLookupError):
        os.kill(compiler, 0)
    assert not list(cache.glob("hello-*"))
