"""`headroom tools`: the binaries of the engine and the lab, found or built."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.terminal import console


def tools(
    names: Annotated[list[str] | None, typer.Argument(help="Which ones; all unless named.")] = None,
) -> None:
    """Find or build the pinned binaries; a second call finds them in the cache."""
    # Rooms are imported when a command needs them.
    from lab.tools import TOOLS, ensure

    for name, path in ensure(names or list(TOOLS)).items():
        console.print(f"{name}: {path}")


def built(name: str) -> Path:
    """The path of one binary, built when it is not there yet."""
    from lab.tools import ensure

    return ensure([name])[name]
