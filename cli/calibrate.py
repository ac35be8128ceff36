"""`headroom calibrate` and `headroom catalogue refresh`: measured figures instead of starting points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.stack import JsonOption, StackFileOption, StackOption, accepted, path_of
from cli.terminal import console, errors, tell, write_json
from specs.problems import Problem, SettingsError

if TYPE_CHECKING:
    from planner.calibrate import Calibration
    from planner.calibrate.result import Step

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
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Between the scrapes; by the files' times unless given.")
    ] = None,
    prompt_tokens: Annotated[
        float | None,
        typer.Option("--prompt-tokens", help="Mean prompt; the stack's capacity says it unless given."),
    ] = None,
    output_tokens: Annotated[
        float | None,
        typer.Option("--output-tokens", help="Mean answer; the stack's capacity says it unless given."),
    ] = None,
    step_seconds: Annotated[float, typer.Option("--step-seconds", help="Length of one step of load.")] = 60.0,
    longest: Annotated[
        float, typer.Option("--longest", help="Seconds after which the search ends.")
    ] = 1800.0,
    key: Annotated[
        str | None,
        typer.Option("--key", envvar="HEADROOM_API_KEY", help="The engine's API key.", show_envvar=True),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Put the result into the stack file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure one replica's capacity at its SLO, by load against an engine or from two scrapes."""
    # Rooms are imported when a command needs them.
    from planner import calibrate as planner
    from planner.replay import ReplayError
    from planner.replay.simulate import model_named

    _one_source(endpoint, scrape)
    _, settings = accepted(stack, stack_file)
    try:
        chosen = model_named(settings, model)
        with errors.status("Measuring") as status:
            found: Calibration = (
                planner.from_load(
                    settings,
                    chosen,
                    endpoint,
                    prompt_tokens=prompt_tokens,
                    output_tokens=output_tokens,
                    step_seconds=step_seconds,
                    longest_seconds=longest,
                    key=key,
                    on_step=lambda step: status.update(f"Measuring: {_step(step)}"),
                )
                if endpoint is not None
                else planner.from_scrapes((scrape or [])[0], (scrape or [])[1], chosen, seconds)
            )
        if write:
            planner.write_capacity(path_of(stack, stack_file), chosen.name, found)
    except (planner.CalibrationError, ReplayError) as error:
        raise SettingsError(error.problems) from error
    if as_json:
        write_json(found.as_json())
    else:
        _print(chosen.name, found, write)


def _one_source(endpoint: str | None, scrape: list[Path] | None) -> None:
    count = len(scrape or [])
    if (endpoint is None) == (count == 0) or count not in (0, 2):
        given = [f"--endpoint {endpoint}"] if endpoint is not None else []
        given += [f"{count} --scrape"] if count else []
        words = " and ".join(given) or "neither --endpoint nor --scrape"
        allowed = "--endpoint URL, or --scrape twice, the earlier page first"
        raise SettingsError([Problem("command line", words, allowed, "give exactly one source")])


def _step(step: Step) -> str:
    met = "met" if step.within else "missed"
    return f"{step.offered:.2f} requests/s {met} the SLO (p95 {step.ttft_p95:.2f} s)"


def _print(name: str, found: Calibration, written: bool) -> None:
    figures = ", ".join(f"{key} {value:g}" for key, value in found.capacity().items())
    meaning = {
        "measured": "measured at the SLO",
        "atLeast": "at least this: there was room left",
        "atMost": "at most this: the SLO was missed",
    }[found.bound]
    console.print(
        f"{name}: {figures}; p95 time to first token {found.ttft_p95:.2f} s, goal {found.slo:g} s: {meaning}",
        markup=False,
    )
    if not written:
        console.print("Nothing was written; --write puts it into the stack file.", style="dim")


@catalogue.command()
def refresh(
    region: Annotated[str, typer.Option("--region", help="AWS region to ask.")] = "us-east-1",
    as_json: JsonOption = False,
) -> None:
    """Ask EC2 and the price list of a region, and replace the shipped snapshot. Exits 1 when AWS gives no answer."""
    from planner import refresh as planner

    try:
        with errors.status("Asking AWS"):
            done = planner.refresh(region)
    except planner.RefreshError as error:
        if error.refused:
            raise SettingsError(error.problems) from error
        tell(error.problems)
        raise typer.Exit(1) from error
    if as_json:
        write_json(done.as_json())
        return
    console.print(
        f"{done.types} GPU types of {done.region}, {done.date}; {len(done.skipped)} skipped", markup=False
    )
    for entry in done.skipped:
        errors.print(f"{entry.type}: {entry.reason}", markup=False)
