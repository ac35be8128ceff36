"""What a lab remembers between commands: its ports, its settings and its processes, in one file under one lock."""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lab.control.component import Component
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.process import Identity
from lab.control.settings import LabSettings


class Running(BaseModel):
    """A component as it was started. ``wanted`` is False once it was stopped on purpose."""

    model_config = ConfigDict(extra="ignore")

    component: Component
    identity: Identity | None = None
    wanted: bool = True
    restarts: int = 0


class State(BaseModel):
    """The content of lab.json. ``pods`` is the loopback network of the pods."""

    model_config = ConfigDict(extra="ignore")

    settings: LabSettings = LabSettings()
    ports: dict[str, int] = {}
    pods: str = ""
    running: dict[str, Running] = {}


def load(layout: Layout) -> State | None:
    """The state, or None when the folder is no lab. Raises LabError when the file can't be read as one."""
    try:
        return State.model_validate_json(layout.state.read_text())
    except FileNotFoundError:
        return None
    except (ValidationError, UnicodeDecodeError) as error:
        raise LabError(
            f"{layout.state} is not a state of this version of the lab ({type(error).__name__}). End the processes "
            f"that its logs in {layout.logs} name, delete {layout.root}, and start again."
        ) from error


def loaded(layout: Layout) -> State:
    """The state of a lab that must be there. Raises LabError when it is not."""
    state = load(layout)
    if state is None:
        raise no_lab(layout)
    return state


def no_lab(layout: Layout) -> LabError:
    """The error for a folder without a lab."""
    return LabError(f"There is no lab in {layout.root}. Start one with `headroom lab up`.")


def save(layout: Layout, state: State) -> None:
    """Writes the state so that a reader sees the old or the new one, never half of it."""
    layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    layout.write(layout.state, state.model_dump_json(indent=1))


@contextmanager
def locked(layout: Layout, *, seconds: float = 120.0, create: bool = False) -> Generator[None]:
    """Holds the lab's lock; waits for another command up to ``seconds``.

    Raises LabError when it takes longer, or when there is no lab and ``create`` is False. The kernel frees the
    lock of a killed command, so it can't go stale.
    """
    deadline = time.monotonic() + seconds
    while True:
        if create:
            layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        elif not layout.root.is_dir():
            raise no_lab(layout)
        with layout.lock.open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip()
            else:
                # `down` of another command may have removed the folder between opening and locking.
                if _is_still(layout.lock, file.fileno()):
                    file.truncate(0)
                    file.write(str(os.getpid()))
                    file.flush()
                    yield
                    return
                continue
        if time.monotonic() > deadline:
            raise LabError(
                f"Another command (process {holder or 'unknown'}) has been changing the lab in {layout.root} for "
                f"over {seconds:.0f} s. Wait for it or end it."
            )
        time.sleep(0.1)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
