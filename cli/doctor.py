"""`headroom doctor`: does the autoscaling of a stack work on a live cluster?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.cluster import kubeconfig, no_stack
from cli.lab import STATE, StateOption
from cli.stack import PROJECT, JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, write_json
from specs.settings.source import stack_path

if TYPE_CHECKING:
    from lab.doctor.patients import Patient


def doctor(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    state: StateOption = STATE,
    context: Annotated[
        str | None,
        typer.Option("--kube-context", "--context", help="Examine the cluster of this context, not the lab."),
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option("--prometheus", help="URL of Prometheus; on a cluster that of a port-forward."),
    ] = None,
    aws: Annotated[bool, typer.Option("--aws", help="Ask AWS about the quotas too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Examine triggers, autoscalers, pools, drains: exits 1 when one fails. What can't be seen is unknown, no pass."""
    # Rooms are imported when a command needs them.
    from lab.doctor.table import render

    patient = _patient(stack, stack_file, state, context, prometheus)
    try:
        with errors.status("Examining"):
            found = patient.examined(aws=aws)
    finally:
        patient.close()
    if as_json:
        write_json(found.as_json())
    else:
        render(found, console)
    if found.verdict == "fail":
        raise typer.Exit(1)


def _patient(
    stack: str | None, stack_file: Path | None, state: Path, context: str | None, prometheus: str | None
) -> Patient:
    from lab.doctor import patients
    from lab.watch.targets import staged_stack

    if context is not None and stack is None and stack_file is None:
        raise no_stack("--kube-context")
    if context is None and stack_file is None:
        # As it was put on the lab, with the rehearsal's changes.
        staged = staged_stack(state)
        if staged is not None and (stack is None or staged == stack_path(staged.parent, stack)):
            stack, stack_file = None, staged
        elif stack is None:
            stack_file = PROJECT / "Pulumi.local.yaml"
    file, settings = accepted(stack, stack_file)
    if context is None:
        return patients.on_lab(state, file.stack, settings, prometheus)
    return patients.on_cluster(context, kubeconfig(), file.stack, settings, prometheus)
