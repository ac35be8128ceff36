"""Locks that a killed run left behind: the engine leaves that to `pulumi cancel`, which nobody can point at our state.

A lock is a file with the process id and the host of its owner (pkg/v3/backend/diy/lock.go).
"""

import json
import os
import socket
from pathlib import Path


def release_dead(backend: Path, stack: str) -> None:
    """Removes the stack's locks whose owner ran on this host and is gone."""
    for lock in backend.glob(f".pulumi/locks/**/{stack}/*.json"):
        try:
            owner = json.loads(lock.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if owner.get("hostname") == socket.gethostname() and not alive(int(owner.get("pid", 0))):
            lock.unlink(missing_ok=True)


def alive(pid: int) -> bool:
    """Whether a process of this host has that id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid > 0
