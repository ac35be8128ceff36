"""`headroom plan`: seconds, caps, quotas and dollars before you pay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.stack import JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, write_json

AgainstOption = Annotated[Path | None, typer.Option("--against", help="Another stack file to compare with.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the difference as Markdown.")]


def plan(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    against: AgainstOption = None,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the stack will cost and how fast it scales; with --against, what a change changes."""
    # Rooms are imported when a command needs them.
    from planner import plan as planner

    file, settings = accepted(stack, stack_file)
    with errors.status("Planning"):
        made = planner.plan(settings, file.stack)
        other = None
        if against is not None:
            before_file, before = accepted(None, against)
            other = planner.difference(planner.plan(before, before_file.stack, search=False), made)
    if as_json:
        document = made.as_json()
        write_json(document if other is None else document | {"difference": other.as_json()})
    elif other is None:
        planner.render_table(made, console)
    elif markdown:
        console.print(planner.as_markdown(other), markup=False)
    else:
        planner.render_difference(other, console)
