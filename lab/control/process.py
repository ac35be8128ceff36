"""Processes: started apart from the caller, known again by pid and birth, ended without harm."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

from lab.control.component import Component
from lab.control.errors import LabError

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "HEADROOM_CACHE")
# Go's default lets a heap double between collections. Measured with three GPU nodes, all components: 1645 MiB at the
# default (100), 1547 at 40, 1504 at 20, where the API server's start takes 40 % more processor time.
_FOR_ALL = {"GOGC": "40"}


class Identity(BaseModel):
    """What tells a process of ours from a stranger with the same pid.

    ``born`` is the machine's boot and the kernel's ticks since then: no clock that may be set, and no title, which a
    process can change (vllm-router does).
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    born: str


@dataclass(frozen=True)
class Usage:
    """What a process uses: resident bytes, processor seconds since its start, seconds since its start."""

    rss_bytes: int
    cpu_seconds: float
    up_seconds: float


def environment(added: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a component: a few of the caller's variables, one for all, and its own."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _FOR_ALL | dict(added)


def start(component: Component, log: Path) -> Identity:
    """Starts a component in a session of its own, its output appended to its log. Raises LabError."""
    for path, content in component.files.items():
        _write(path, content)
    for path, content in component.initial.items():
        if not path.exists():
            _write(path, content)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        try:
            child = subprocess.Popen(
                component.argv,
                env=environment(component.environment),
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise LabError(f"{component.name} can't be started: {error}") from error
    # The caller ends before its child does, or sees its death through `find`, which reaps it.
    child.returncode = 0
    return Identity(pid=child.pid, born=_birth(child.pid))


def find(identity: Identity | None) -> psutil.Process | None:
    """The process while it lives and is ours; None otherwise. A dead child of the caller is reaped."""
    if identity is None:
        return None
    try:
        process = psutil.Process(identity.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            _reap(identity.pid)
            return None
        return process if _birth(identity.pid) == identity.born else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def usage(identity: Identity | None) -> Usage | None:
    """What a process uses; None when it does not live."""
    process = find(identity)
    if process is None:
        return None
    try:
        with process.oneshot():
            times = process.cpu_times()
            return Usage(
                rss_bytes=process.memory_info().rss,
                cpu_seconds=times.user + times.system,
                up_seconds=time.time() - process.create_time(),
            )
    except psutil.NoSuchProcess:
        return None


def stop(*ending: tuple[Identity | None, float]) -> None:
    """Ends processes together, each with its grace: SIGTERM, then SIGKILL after so many seconds.

    Does nothing to a stranger or to the dead.
    """
    began = time.monotonic()
    left = [(identity, grace) for identity, grace in ending if identity and _signal(identity, signal.SIGTERM)]
    while left:
        late = time.monotonic() - began
        for identity, _ in [one for one in left if late > one[1]]:
            _signal(identity, signal.SIGKILL)
        left = [one for one in left if find(one[0])]
        time.sleep(0.02)


def kill(identity: Identity | None) -> bool:
    """SIGKILL without a warning, as an out-of-memory kill; returns once it is dead: whether there was one of ours."""
    if identity is None or not _signal(identity, signal.SIGKILL):
        return False
    while find(identity):
        time.sleep(0.005)
    return True


def _birth(pid: int) -> str:
    """The boot and the start of a process. Raises psutil.NoSuchProcess."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        # Field 22, counted from after the name, which is the second (proc_pid_stat(5)).
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}/{fields[19]}"
    except OSError:
        return f"{psutil.Process(pid).create_time():.2f}"


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def _signal(identity: Identity, number: int) -> bool:
    process = find(identity)
    if process is None:
        return False
    try:
        # psutil checks the start time once more, so a pid given away meanwhile is not signalled.
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return False
    return True


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
