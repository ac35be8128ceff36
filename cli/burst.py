"""`headroom lab burst`: the stack on a lab, a burst up to the most replicas and the way back. `make up` runs it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cli.stack import PROJECT, accepted
from cli.terminal import console, errors

if TYPE_CHECKING:
    from lab.rehearsal.phases import Seen
    from lab.rehearsal.script import Script
    from lab.stage.stage import Stage

STATE = PROJECT / ".headroom" / "lab"
REPORT = PROJECT / "reports" / "burst"


def burst(
    state: Annotated[Path, typer.Option("--state", help="Folder of the lab.")] = STATE,
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack to bring up.")] = "local",
    quick: Annotated[
        bool, typer.Option("--quick", help="Starts take a tenth of the planned seconds; under 3 minutes.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the load.")] = 0,
    report: Annotated[Path, typer.Option("--report", help="Folder of the report.")] = REPORT,
) -> None:
    """Bring a stack up on the lab, load it until it has its most replicas, and watch it come back.

    Real control plane, controllers, Pulumi engine and policy pack; simulated GPUs. Exits 1 when a request was
    lost or the replicas did not come or go. The lab stays up; `headroom lab down` ends it.
    """
    # Rooms are imported when a command needs them.
    from lab.rehearsal import coming, phases
    from lab.stage.stage import open_stage

    accepted(stack, None)
    if absent := coming.missing():
        _first_time(stack, absent)
    begun = time.monotonic()
    _, settings = accepted(stack, None)
    overrides = phases.quick(settings) if quick else phases.watchable(settings)
    if not errors.is_terminal:
        errors.print("Starting the lab: ten seconds on a quiet machine")
    with errors.status("Starting the lab") as status:
        stage = open_stage(
            state,
            stack,
            factor=phases.QUICK_FACTOR if quick else 1.0,
            overrides=overrides,
            progress=lambda text: status.update(f"Starting the lab: {text}"),
        )
    _bring_up(stage)
    console.print(f"{stack} is up on the lab after {time.monotonic() - begun:.0f} s", markup=False)
    script = _play(stage, report, seed, hold=phases.QUICK_HOLD_SECONDS if quick else phases.HOLD_SECONDS)
    _summary(script, stage, quick=quick)
    if not all(one.reached for one in script.passed) or any(one.lost for one in script.results):
        raise typer.Exit(1)


def _first_time(stack: str, absent: list[str]) -> None:
    """Something true before the builds: what the stack will cost and do, by the plan and the replay."""
    from cli.plan import plan
    from cli.replay import replay
    from lab import tools
    from lab.rehearsal import coming

    console.print("[bold]What this stack costs and how it starts[/] (headroom plan)")
    plan(stack=stack)
    console.print("\n[bold]A day through its scaling loop[/] (headroom replay)")
    replay(trace="generate:diurnal:1:6", stack=stack, policy=["ours", "published", "hpa-gpu", "static"])
    console.print()
    console.print(coming.table(absent))
    tools.ensure(absent)


def _bring_up(stage: Stage) -> None:
    from cli.cloud import progress

    with progress(f"Bringing {stage.stack} up with the real engine and the policy pack") as on_event:
        outcome = stage.up(on_event=on_event)
    for problem in outcome.problems:
        errors.print(problem, style="red", markup=False)
    if not outcome.ok:
        raise typer.Exit(1)
    counts = ", ".join(f"{count} {op}" for op, count in sorted(outcome.changes.items()))
    console.print(f"up of {stage.stack}: {counts} in {outcome.seconds:.0f} s", markup=False)


def _play(stage: Stage, report: Path, seed: int, *, hold: float) -> Script:
    from lab.load import of_stack
    from lab.rehearsal.phases import phases, rehearsed
    from lab.rehearsal.script import Script, seen
    from lab.watch.record import EVENTS, SAMPLES, Recorder
    from lab.watch.report import write
    from lab.watch.sample import Sampler
    from lab.watch.show import show
    from lab.watch.watcher import Watcher

    model = rehearsed(stage.settings)
    title = f"{stage.stack} on the lab"
    for name in (SAMPLES, EVENTS):  # those of an earlier burst; a recorder only adds
        (report / name).unlink(missing_ok=True)
    with stage.plane.client() as client, Recorder(report) as recorder:
        sampler = Sampler(stage.plane.url("prometheus"), client, stage.settings)
        try:
            with Watcher(sampler, seconds=1.0, recorder=recorder) as watcher:

                def look() -> Seen:
                    with watcher.lock:
                        return seen(watcher.history.last, model.name, model.pool)

                script = Script(
                    phases=phases(stage.settings, model, factor=stage.factor, hold_seconds=hold),
                    look=look,
                    note=lambda phase: watcher.note("phase", phase.name, of=model.name),
                    loads=lambda phase: of_stack(
                        stage.settings, stage.plane.kubeconfig, phase.profile, model=model.name, seed=seed
                    ),
                )
                try:
                    show(watcher, console, script.step, title=title, extra=script.words)
                finally:
                    script.close()
                history = watcher.history
        finally:
            sampler.close()
    page = write(
        list(history.samples),
        list(history.events),
        script.results,
        report,
        title,
        settings=stage.settings,
        factor=stage.factor,
    )
    errors.print(f"Report: {page}", markup=False)
    return script


def _summary(script: Script, stage: Stage, *, quick: bool) -> None:
    table = Table(title="The rehearsal", title_justify="left", box=None)
    for column in ("phase", "seconds", "came to its end", "what"):
        table.add_column(column, justify="right" if column == "seconds" else "left")
    for one in script.passed:
        table.add_row(one.phase.name, f"{one.seconds:.0f}", "yes" if one.reached else "NO", one.phase.title)
    console.print(table)
    sent, completed = (sum(getattr(one, name) for one in script.results) for name in ("sent", "completed"))
    lost = sum(one.lost for one in script.results)
    style = "bold red" if lost else "bold green"
    console.print(f"{sent} requests sent, {completed} completed, [{style}]{lost} lost[/]")
    _next(stage, quick=quick)


def _next(stage: Stage, *, quick: bool) -> None:
    lines = [
        ("headroom watch", "see it live"),
        ("headroom lab load --clients 100", "load it again"),
        ("headroom plan --stack prod --against Pulumi.dev.yaml", "what a change costs"),
        ("headroom preview --stack prod", "the engine and the policies over the recorded cloud"),
        ("headroom lab down", "end the lab"),
    ]
    if quick:
        lines.insert(0, ("make up", "the same with the planned seconds of nodes, images and weights"))
    table = Table(title="What to try next", title_justify="left", show_header=False, box=None)
    for command, meaning in lines:
        table.add_row(command, meaning, style=None)
    console.print(table)
    console.print(f"The lab stays up: KUBECONFIG={stage.plane.kubeconfig}", markup=False)
