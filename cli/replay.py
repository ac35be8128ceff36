"""`headroom replay`: a trace through the whole scaling loop, on the stack's own configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table

from cli.stack import JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, write_json
from cli.trace import MODEL_HELP, POLICY_HELP, SCALE_HELP, SEED_HELP, TRACE_HELP
from specs.problems import Problem, SettingsError

if TYPE_CHECKING:
    from planner.replay import Floor, ReplayResult
    from planner.replay.stage import Mode
    from planner.traces import Trace
    from specs.settings.stack import Settings


def replay(
    trace: Annotated[str, typer.Option("--trace", help=TRACE_HELP)],
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    model: Annotated[str | None, typer.Option("--model", help=MODEL_HELP)] = None,
    scale: Annotated[float, typer.Option("--scale", help=SCALE_HELP)] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help=SEED_HELP, min=0)] = 0,
    mode: Annotated[
        str | None, typer.Option("--mode", help="request or fluid; by the trace unless given.")
    ] = None,
    policy: Annotated[list[str] | None, typer.Option("--policy", help=POLICY_HELP)] = None,
    as_json: JsonOption = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report into this folder.")
    ] = None,
) -> None:
    """Replay arrivals: node-hours, dollars and time in violation, beside the clairvoyant bound."""
    # Rooms are imported when a command needs them: pulumi and numpy take a second.
    from planner.open_trace import open_trace
    from planner.replay import ReplayError, run
    from planner.traces import TraceError

    if mode not in (None, "request", "fluid"):
        raise SettingsError([Problem("--mode", mode, "request or fluid", "choose one, or leave it out")])
    chosen: Literal["request", "fluid"] | None = mode  # pyright: ignore[reportAssignmentType] - checked above
    _, settings = accepted(stack, stack_file)
    wanted = policy or ["ours"]
    try:
        arrivals = open_trace(trace, seed)
        results = [
            run(settings, arrivals, model, scale, seed, chosen, name)
            for name in track(
                wanted, "Replaying", console=errors, transient=True, disable=not errors.is_terminal
            )
        ]
        floor = _floor(settings, arrivals, results, scale, seed, chosen)
    except (ReplayError, TraceError) as error:
        raise SettingsError(error.problems) from error
    advice = floor.advice if floor else ""
    if report is not None:
        _report(results, report, advice)
    if as_json:
        documents = [_document(result, floor) for result in results]
        write_json(documents if policy and len(policy) > 1 else documents[0])
    else:
        console.print(_table(results))
        if advice:
            console.print(advice, markup=False, soft_wrap=False)


def _floor(
    settings: Settings,
    trace: Trace,
    results: list[ReplayResult],
    scale: float,
    seed: int,
    mode: Mode | None,
) -> Floor | None:
    """The floor the trace warrants, where the stack's own policy was replayed and is late too often."""
    from planner.replay import ALLOWED_SHARE, recommended_floor
    from planner.replay.simulate import mode_of

    late = [
        result for result in results if result.policy == "ours" and result.violation_share > ALLOWED_SHARE
    ]
    if not late:
        return None
    with errors.status("Looking for a floor"):
        return recommended_floor(
            settings, trace, late[0].model, scale, seed, mode or mode_of(trace), without=late[0]
        )


def _document(result: ReplayResult, floor: Floor | None) -> dict[str, object]:
    """`recommendedFloor` is null where the violations stay within bounds, and for the baselines."""
    own = floor is not None and result.policy == "ours"
    return result.as_json() | {"recommendedFloor": floor.as_json() if floor and own else None}


def _report(results: list[ReplayResult], folder: Path, advice: str) -> None:
    from planner.report import write

    try:
        page = write(results, folder, advice)
    except OSError as error:
        reason = f"{folder}: {error.strerror or 'not writable'}"
        raise SettingsError(
            [Problem("--report", reason, "a folder that can be written", "name another")]
        ) from error
    errors.print(f"Report: {page}", markup=False)


def _table(results: list[ReplayResult]) -> Table:
    first = results[0]
    # Short heads: eight policies fit a terminal of 80 columns.
    table = Table(
        title=f"{first.trace} on {first.model}: {first.duration_seconds / 3600:.1f} h, {first.requests:,} requests",
        title_justify="left",
        caption="x bound: over the clairvoyant bound; late: time in violation; turns: reversals",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in ("policy", "node-hours", "x bound", "USD", "late", "peak", "turns/h"):
        table.add_column(column, justify="left" if column == "policy" else "right", no_wrap=True)
    for result in results:
        found = result.as_json()
        table.add_row(
            result.policy,
            f"{found['nodeHours']:,.1f}",
            f"{found['boundRatio']:.2f}",
            f"{found['usd']:,.2f}",
            f"{result.violation_share:.2%}",
            str(result.peak_replicas),
            f"{found['reversalsPerHour']:.1f}",
        )
    return table
