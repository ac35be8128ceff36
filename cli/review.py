"""`headroom review`: what a change does to the stacks, as the body of one comment."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.cloud import progress
from cli.stack import PROJECT, JsonOption, path_of
from cli.terminal import write_json
from cli.tools import built

if TYPE_CHECKING:
    from lab.review.review import Review

StacksOption = Annotated[
    list[str], typer.Option("--stack", "-s", help="Stack of this project; give it once for each stack.")
]
BaseOption = Annotated[
    str, typer.Option("--base", help="What to compare with: a folder, or a commit such as origin/main.")
]


def review(stack: StacksOption, base: BaseOption, as_json: JsonOption = False) -> None:
    """Compare with the base: resources, policies, seconds, cost, GPUs. Exits 1 when a stack would not pass."""
    # Rooms are imported when a command needs them.
    from lab.review.base import tree
    from lab.review.markdown import body
    from lab.review.stack import review as reviewed

    for name in stack:
        path_of(name, None)
    reviews: list[Review] = []
    with tree(PROJECT, base) as against:
        cli = built("pulumi")
        for name in dict.fromkeys(stack):
            with progress(f"Reviewing {name}") as on_event:
                reviews.append(reviewed(PROJECT, against.folder, name, cli, on_event))
    text = body(reviews, against.label)
    if as_json:
        write_json({"base": against.label, "stacks": [entry.as_json() for entry in reviews], "body": text})
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    if any(entry.status != "passed" for entry in reviews):
        raise typer.Exit(1)
