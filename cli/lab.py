"""`headroom lab`: the control plane on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.burst import burst
from cli.soak import soak
from cli.stack import PROJECT, JsonOption, accepted
from cli.terminal import console, errors, write_json
from specs.problems import SettingsError

lab = typer.Typer(help="The local control plane: real controllers, no cloud.", no_args_is_help=True)
StateOption = Annotated[
    Path, typer.Option("--state", help="Folder of the lab; a second folder is a second lab.")
]
STATE = PROJECT / ".headroom" / "lab"
lab.command()(burst)
lab.command()(soak)


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


ComponentName = Annotated[str, typer.Argument(help="A component that `headroom lab status` lists.")]


@lab.command()
def stop(name: ComponentName, state: StateOption = STATE) -> None:
    """End one component as an outage; it stays down until `headroom lab start NAME`."""
    from lab.control import single

    single.stop(state, name)
    console.print(f"{name} is down; `headroom lab start {name}` brings it back", markup=False)


@lab.command()
def start(name: ComponentName, state: StateOption = STATE) -> None:
    """Start a stopped component again, as it was; returns when it is well."""
    from lab.control import single

    with errors.status(f"Starting {name}"):
        single.resume(state, name)
    console.print(f"{name} is well", markup=False)


@lab.command()
def load(
    state: StateOption = STATE,
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack that the lab runs.")] = "local",
    model: Annotated[
        str | None, typer.Option("--model", help="Model of the stack; the first unless named.")
    ] = None,
    clients: Annotated[
        int | None, typer.Option("--clients", help="Clients that wait for their answers; 50 unless said.")
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            "--arrivals",
            help="Instead of clients: diurnal, weekly, bursty, season-free, step or constant, each with"
            " [:DAYS[:RPS]], or a trace file.",
        ),
    ] = None,
    scale: Annotated[float, typer.Option("--scale", help="Factor on the rate of the arrivals.")] = 1.0,
    speed: Annotated[
        float, typer.Option("--speed", help="How much faster the clock of the arrivals runs; rates stay.")
    ] = 1.0,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Ends after so long; 5 without --requests.")
    ] = None,
    requests: Annotated[int | None, typer.Option("--requests", help="Ends after so many.")] = None,
    stream: Annotated[float, typer.Option("--stream", help="Share of streams, 0 to 1.")] = 0.8,
    seed: Annotated[int, typer.Option("--seed", help="Seed of every random choice.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Send requests to a model's routers and account for each. Exits 1 when one is lost."""
    from lab.control import plane
    from lab.load import LoadError, asking_of, both, model_of, of_stack, profile_of, watched

    _, settings = accepted(stack, None)
    seconds = minutes * 60 if minutes is not None else None if requests is not None else 300.0
    try:
        chosen = model_of(settings, model)
        asking, profile = both(
            lambda: asking_of(settings, chosen, stream=stream),
            lambda: profile_of(
                settings,
                model=chosen.name,
                clients=clients,
                arrivals=arrivals,
                scale=scale,
                speed=speed,
                seconds=seconds,
                requests=requests,
                seed=seed,
            ),
        )
        kubeconfig = plane.attach(state).kubeconfig
        sending = of_stack(settings, kubeconfig, profile, model=chosen.name, seed=seed, asking=asking)
    except LoadError as error:
        raise SettingsError(error.problems) from error
    result, interrupted = watched(sending, errors)
    if as_json:
        write_json(result.as_json())
    else:
        console.print(result.table())
    if interrupted:
        raise KeyboardInterrupt
    if result.lost:
        raise typer.Exit(1)
