"""The Go command: found, asked for its version, run; everything the builder needs from it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from lab.tools.errors import ToolError

_WAY_OUT = "Install it from https://go.dev/dl/ and put it on PATH."
# From 1.21 on, `go` fetches the toolchain that go.mod names (https://go.dev/doc/toolchain).
_FETCHES_ITS_TOOLCHAIN = (1, 21)


def version_tuple(text: str) -> tuple[int, ...]:
    """The first dotted number in a text as integers: "go1.26.8" -> (1, 26, 8); () when there is none."""
    found = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def go_path() -> Path | None:
    """The Go command on PATH, if there is one."""
    found = shutil.which("go")
    return Path(found) if found else None


def needed_go(module: Path) -> str:
    """The Go version that a module's go.mod asks for, such as "1.26.6"."""
    found = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)
    if not found:
        raise ToolError(f"{module / 'go.mod'} names no Go version; add a line such as `go 1.26.0`.")
    return found.group(1)


@cache
def go_settings(go: Path, module: Path) -> Mapping[str, str]:
    """GOVERSION, GOOS and GOARCH as they apply in a module.

    Raises ToolError when the Go found is too old for the module and can't fetch a newer one.
    """
    needed = needed_go(module)
    local = _env(go, module.anchor, {"GOTOOLCHAIN": "local"})
    found = local.get("GOVERSION", "").removeprefix("go") or "a version before 1.16"
    policy = _env(go, module.anchor, {}).get("GOTOOLCHAIN", "local")
    if version_tuple(found) < version_tuple(needed) and (
        version_tuple(found) < _FETCHES_ITS_TOOLCHAIN or policy.startswith("local")
    ):
        raise ToolError(
            f"Go {found} at {go} is too old: {module.name} needs Go {needed} or newer. "
            + ("Unset GOTOOLCHAIN to let Go fetch it, or install" if policy == "local" else "Install")
            + f" a newer Go from https://go.dev/dl/. (GOTOOLCHAIN is {policy!r}.)"
        )
    settings = _env(go, module, {})
    if "GOVERSION" not in settings:
        raise ToolError(
            f"Go {found} at {go} could not get the Go {needed} that {module.name} needs. "
            "Check the network and GOPROXY (`go env GOPROXY`), or install a newer Go from https://go.dev/dl/."
        )
    return settings


def _env(go: Path, folder: Path | str, extra: Mapping[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [str(go), "env", "-json", "GOVERSION", "GOOS", "GOARCH", "GOTOOLCHAIN"],
        cwd=folder,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def require_go() -> Path:
    """The Go command; a ToolError that says how to get it when it is absent."""
    found = go_path()
    if found is None:
        raise ToolError(f"The Go command was not found on PATH, and the tool is not built yet. {_WAY_OUT}")
    return found


def module_folder(go: Path, module: Path, path: str) -> Path:
    """The folder in Go's module cache of a module that ``module`` pins; downloaded when absent."""
    done = subprocess.run(
        [str(go), "mod", "download", "-json", path], cwd=module, capture_output=True, text=True, check=False
    )
    answer: dict[str, str] = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    if done.returncode != 0 or "Dir" not in answer:
        reason = answer.get("Error") or done.stderr.strip() or "no reason given"
        raise ToolError(f"{path} can't be downloaded: {reason}\nCheck the network and `go env GOPROXY`.")
    return Path(answer["Dir"])


def run_logged(argv: list[str], folder: Path, log: Path, tick: Callable[[float], None]) -> int:
    """Runs a long command at low priority into a log; calls ``tick`` with the elapsed seconds; its exit code.

    An interrupt ends the command and all it started before it is raised again.
    """
    began = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(argv, cwd=folder, stdout=out, stderr=subprocess.STDOUT, process_group=0)
        try:
            os.setpriority(os.PRIO_PROCESS, process.pid, 10)
            while True:
                try:
                    return process.wait(timeout=0.25)
                except subprocess.TimeoutExpired:
                    tick(time.monotonic() - began)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
