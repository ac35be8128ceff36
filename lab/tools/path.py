"""Tools that the machine already has: asked for their version, taken when it fits."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from lab.tools.catalogue import Tool
from lab.tools.golang import version_tuple


def fitting_on_path(tool: Tool) -> Path | None:
    """The tool on PATH when its version is within the catalogue's range; None otherwise."""
    found = shutil.which(tool.name) if tool.on_path else None
    if tool.on_path is None or found is None:
        return None
    version = _version(found, tool.on_path.arguments)
    fits = version_tuple(tool.on_path.at_least) <= version < version_tuple(tool.on_path.below)
    return Path(found) if version and fits else None


@cache
def _version(binary: str, arguments: tuple[str, ...]) -> tuple[int, ...]:
    try:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return version_tuple(done.stdout + done.stderr) if done.returncode == 0 else ()
