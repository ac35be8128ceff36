"""`headroom tools`: the binaries of the engine and the lab, found or built."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.terminal import console, errors
from lab.tools import TOOLS, Display, Lines, ensure


def tools(
    names: Annotated[list[str] | None, typer.Argument(help="Which ones; all unless named.")] = None,
) -> None:
    """Find or build the pinned binaries; a second call finds them in the cache."""
    wanted = names or [tool.name for tool in TOOLS]
    for name, path in ensure(wanted, _progress()).items():
        console.print(f"{name}: {path}")


def built(name: str) -> Path:
    """The path of one binary, built when it is not there yet."""
    return ensure([name], _progress())[name]


def _progress() -> Display | Lines:
    return Display() if errors.is_terminal else Lines()
