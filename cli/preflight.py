"""`headroom preflight`: does the account have what the stack may ask?"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.stack import JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, write_json

BucketOption = Annotated[
    str | None, typer.Option("--bucket", help="Weights bucket; the stack's own unless named.")
]


def preflight(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    bucket: BucketOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask AWS about quotas, offerings, roles, image and weights. Exits 1 when something would fail."""
    # Rooms are imported when a command needs them.
    from planner import preflight as planner

    file, settings = accepted(stack, stack_file)
    with errors.status("Asking AWS"):
        checks = planner.run(settings, file.stack, bucket=bucket)
    if as_json:
        write_json(planner.as_json(checks))
    else:
        planner.render_table(checks, console)
    if planner.fails(checks):
        raise typer.Exit(1)
