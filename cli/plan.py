"""`headroom plan`: seconds, caps, quotas and dollars before you pay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.stack import JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, write_json
from cli.trace import MODEL_HELP, SCALE_HELP, SEED_HELP, TRACE_HELP
from specs.problems import Problem, SettingsError

if TYPE_CHECKING:
    from planner.plan import Plan
    from planner.traces import Trace
    from specs.settings.source import StackFile
    from specs.settings.stack import Settings

AgainstOption = Annotated[Path | None, typer.Option("--against", help="Another stack file to compare with.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the difference as Markdown.")]
FullOption = Annotated[
    bool, typer.Option("--full", "-v", help="Print each line of the bill and every instance type too.")
]
TraceOption = Annotated[
    str | None, typer.Option("--trace", help=f"Load of a typical month, repeated to fill it. {TRACE_HELP}")
]


def plan(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    against: AgainstOption = None,
    trace: TraceOption = None,
    model: Annotated[str | None, typer.Option("--model", help=f"Whose trace it is. {MODEL_HELP}")] = None,
    scale: Annotated[float, typer.Option("--scale", help=SCALE_HELP)] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help=SEED_HELP, min=0)] = 0,
    markdown: MarkdownOption = False,
    full: FullOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the stack will cost and how fast it scales; with --against, what a change changes."""
    # Rooms are imported when a command needs them.
    from planner import plan as planner
    from planner.replay import ReplayError
    from planner.traces import TraceError

    if trace is None and (model is not None or scale != 1.0):
        raise SettingsError(
            [Problem("command line", "--model or --scale alone", "both with --trace", "name a trace")]
        )
    if markdown and against is None:
        raise SettingsError(
            [Problem("command line", "--markdown alone", "with --against", "name another stack file")]
        )
    file, settings = accepted(stack, stack_file)
    before = accepted(None, against) if against is not None else None
    other = None
    try:
        traces = _traces(settings, trace, model, seed)
        with errors.status("Planning"):
            made = planner.plan(settings, file.stack, traces, scale)
            if before is not None:
                other = planner.difference(_before(*before, traces, scale), made)
    except (ReplayError, TraceError) as error:
        raise SettingsError(error.problems) from error
    if as_json:
        document = made.as_json()
        write_json(document if other is None else document | {"difference": other.as_json()})
    elif other is None:
        planner.render_table(made, console, full)
    elif markdown:
        console.print(planner.as_markdown(other), markup=False)
    else:
        planner.render_difference(other, console)


def _traces(settings: Settings, trace: str | None, model: str | None, seed: int) -> dict[str, Trace]:
    """The trace by the name of its model. Raises ReplayError or TraceError."""
    from planner.open_trace import open_trace
    from planner.replay.simulate import model_named

    if trace is None:
        return {}
    return {model_named(settings, model).name: open_trace(trace, seed)}


def _before(file: StackFile, settings: Settings, traces: Mapping[str, Trace], scale: float) -> Plan:
    """The other side of a difference, on the same loads where it has the models."""
    from planner import plan as planner

    known = {entry.name for entry in settings.active_models if entry.capacity is not None}
    theirs = {name: found for name, found in traces.items() if name in known}
    return planner.plan(settings, file.stack, theirs, scale, search=False)
