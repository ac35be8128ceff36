"""`headroom lab`: the control plane on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.stack import PROJECT, JsonOption
from cli.terminal import console, errors, write_json

lab = typer.Typer(help="The local control plane: real controllers, no cloud.", no_args_is_help=True)
StateOption = Annotated[
    Path, typer.Option("--state", help="Folder of the lab; a second folder is a second lab.")
]
STATE = PROJECT / ".headroom" / "lab"


@lab.command()
def up(state: StateOption = STATE) -> None:
    """Start it, or mend what died; returns when everything is well."""
    # Rooms are imported when a command needs them.
    from lab.control import plane

    with errors.status("Starting the lab") as status:
        made = plane.up(state, progress=lambda name, step: status.update(f"{name}: {step}"))
    console.print(f"The lab is up. KUBECONFIG={made.layout.kubeconfig}", markup=False)


@lab.command()
def status(state: StateOption = STATE, as_json: JsonOption = False) -> None:
    """Look at every component. Exits 1 unless all are well."""
    from lab.control import report

    found = report.status(state)
    if as_json:
        write_json(found.as_json())
    else:
        console.print(report.table(found))
    if not found.up:
        raise typer.Exit(1)


@lab.command()
def down(state: StateOption = STATE) -> None:
    """Stop everything and leave nothing behind."""
    from lab.control import plane

    ended = plane.down(state)
    console.print(f"Stopped {len(ended)} components" if ended else "No lab was running", markup=False)
