"""`headroom render`: what the program declares, without an engine or a cloud."""

from __future__ import annotations

from collections import Counter

from rich.table import Table

from cli.stack import PROJECT, JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, write_json
from specs.problems import Problem, SettingsError


def render(
    stack: StackOption = None, stack_file: StackFileOption = None, as_json: JsonOption = False
) -> None:
    """List every resource with its inputs; values known only later are null."""
    # Rooms are imported when a command needs them.
    from pulumi.errors import RunError

    from lab import render as renderer

    file, _ = accepted(stack, stack_file)
    try:
        declared = renderer.render(PROJECT / "__main__.py", file.stack, file.config)
    except RunError as error:
        raise SettingsError(
            [Problem("program", str(error), "a program that declares its resources", "mend it")]
        ) from error
    if as_json:
        write_json([entry.as_json() for entry in declared])
        return
    table = Table(title=f"Stack {file.stack}: {len(declared)} resources", title_justify="left")
    table.add_column("type", style="cyan", overflow="fold")
    table.add_column("count", justify="right")
    table.add_column("names", overflow="fold")
    for kind, count in sorted(Counter(entry.type for entry in declared).items()):
        table.add_row(kind, str(count), ", ".join(entry.name for entry in declared if entry.type == kind))
    console.print(table)
