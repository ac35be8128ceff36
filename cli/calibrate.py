"""`headroom calibrate` and `headroom catalogue refresh`: measured figures instead of starting points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.stack import JsonOption, StackFileOption, StackOption, accepted, path_of
from cli.terminal import console, errors, write_json
from specs.problems import Problem, SettingsError

if TYPE_CHECKING:
    from planner.calibrate import Calibration

catalogue = typer.Typer(help="The instance catalogue.", no_args_is_help=True)
ModelOption = Annotated[
    str | None, typer.Option("--model", help="Model of the stack; the first unless named.")
]
ScrapeOption = Annotated[
    list[Path] | None, typer.Option("--scrape", help="Two saved /metrics pages, earlier first.")
]


def calibrate(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    model: ModelOption = None,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", help="One engine's address, to load it.")
    ] = None,
    scrape: ScrapeOption = None,
    write: Annotated[bool, typer.Option("--write", help="Put the result into the stack file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure one replica's capacity at its SLO, by load against an engine or from two scrapes."""
    # Rooms are imported when a command needs them.
    from planner import calibrate as planner
    from planner.replay import ReplayError
    from planner.replay.simulate import model_named

    _, settings = accepted(stack, stack_file)
    if (endpoint is None) == (not scrape) or (scrape and len(scrape) != 2):
        raise SettingsError(
            [
                Problem(
                    "command line",
                    "not one source",
                    "--endpoint URL, or --scrape twice",
                    "give exactly one source",
                )
            ]
        )
    try:
        chosen = model_named(settings, model)
        with errors.status("Measuring"):
            found: Calibration = (
                planner.from_load(settings, chosen, endpoint)
                if endpoint is not None
                else planner.from_scrapes((scrape or [])[0], (scrape or [])[1], chosen)
            )
        if write:
            planner.write_capacity(path_of(stack, stack_file), chosen.name, found)
    except (planner.CalibrationError, ReplayError) as error:
        raise SettingsError(error.problems) from error
    if as_json:
        write_json(found.as_json())
    else:
        figures = ", ".join(f"{key} {value:g}" for key, value in found.capacity().items())
        console.print(
            f"{chosen.name}: {figures}; p95 time to first token {found.ttft_p95:.2f} s, goal {found.slo:g} s"
            f" ({found.bound})",
            markup=False,
        )


@catalogue.command()
def refresh(
    region: Annotated[str, typer.Option("--region", help="AWS region to ask.")] = "us-east-1",
) -> None:
    """Ask EC2 and the price list of a region, and replace the shipped snapshot."""
    from planner import refresh as planner

    try:
        with errors.status("Asking AWS"):
            done = planner.refresh(region)
    except planner.RefreshError as error:
        raise SettingsError(error.problems) from error
    console.print(
        f"{done.types} GPU types of {done.region}, {done.date}; {len(done.skipped)} skipped", markup=False
    )
    for entry in done.skipped:
        errors.print(f"{entry.type}: {entry.reason}", markup=False)
