"""What a machine still lacks for a rehearsal, and how long building it should take."""

from collections.abc import Sequence

from rich.table import Table

from lab import tools
from lab.control.parts import registry
from lab.tools import store
from lab.tools.progress import span

ENGINE: Sequence[str] = ("pulumi", "pulumi-resource-kubernetes")


def needed() -> list[str]:
    """The tools of a lab with a stack on it."""
    return [*registry.tools_of(registry.closure(registry.FULL)), *ENGINE]


def missing() -> list[str]:
    """Those that are neither on PATH nor built."""
    return [name for name in needed() if tools.find(name) is None]


def table(names: Sequence[str]) -> Table:
    """What will be built, in order, with the estimate of each and of all."""
    shown = Table(title="To be built once, into a cache outside this folder", title_justify="left", box=None)
    shown.add_column("tool")
    shown.add_column("about", justify="right")
    total = 0.0
    for name in names:
        seconds = store.estimate(tools.TOOLS[name])
        total += seconds
        shown.add_row(name, span(seconds))
    shown.add_row("together", span(total), style="bold")
    return shown
