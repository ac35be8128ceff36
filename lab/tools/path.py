"""Tools that the machine already has: asked for their version, taken when it fits."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from lab.tools.catalogue import OnPath, Tool
from lab.tools.golang import version_tuple


def fitting_on_path(tool: Tool) -> Path | None:
    """The tool on PATH, or in Pulumi's plugin folder, when its version is in the catalogue's range; else None."""
    if tool.on_path is None:
        return None
    if tool.plugin is not None:
        return _fitting_plugin(tool.name, tool.plugin, tool.on_path)
    found = shutil.which(tool.name)
    return Path(found) if found and _fits(_version(found, tool.on_path.arguments), tool.on_path) else None


def _fitting_plugin(name: str, plugin: str, range_: OnPath) -> Path | None:
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    fitting = [
        (version_tuple(folder.name), folder / name)
        for folder in home.glob(f"plugins/resource-{plugin}-v*")
        if (folder / name).is_file() and _fits(version_tuple(folder.name), range_)
    ]
    return max(fitting)[1] if fitting else None


def _fits(version: tuple[int, ...], range_: OnPath) -> bool:
    return version_tuple(range_.at_least) <= version < version_tuple(range_.below)


@cache
def _version(binary: str, arguments: tuple[str, ...]) -> tuple[int, ...]:
    try:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return version_tuple(done.stdout + done.stderr) if done.returncode == 0 else ()
