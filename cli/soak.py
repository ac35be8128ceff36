"""`headroom lab soak`: bursts, kills and notices by a seed, on a stack under load; what they do not explain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.burst import STATE
from cli.stack import JsonOption, accepted
from cli.terminal import console, errors, write_json

if TYPE_CHECKING:
    from lab.load import Load
    from lab.soak.plan import Plan
    from lab.soak.player import Player
    from lab.soak.result import SoakResult
    from lab.stage.stage import Stage
    from specs.settings.stack import Settings

INTERRUPT_SECONDS = 90.0
"""What a `pulumi up` under way gets to come to its end after Ctrl-C."""


def soak(
    minutes: Annotated[
        float, typer.Option("--minutes", help="How long actions are drawn for; 1 to 1440.")
    ] = 10.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the plan and of every load.")] = 0,
    state: Annotated[Path, typer.Option("--state", help="Folder of the lab.")] = STATE,
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack to bring up.")] = "local",
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Print the plan, one object a line, and end.")
    ] = False,
    down: Annotated[bool, typer.Option("--down", help="End the lab afterwards.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bursts, spot notices, power cuts, kills and updates at random, under load that goes on.

    Exits 1 when a request is lost that was not on a node or process that died, when an action fails, or when
    something does not come back; the seed replays the plan. The lab stays up unless --down.
    """
    # Rooms are imported when a command needs them.
    from lab.cloud.engine import EngineError
    from lab.rehearsal import coming
    from lab.soak.plan import plan_of
    from lab.soak.stack import FACTOR, overrides, serving
    from lab.stage.stage import open_stage

    _, settings = accepted(stack, None)
    plan = plan_of(seed, minutes, *serving(settings))
    if only_plan:
        sys.stdout.write(plan.text())
        return
    if absent := coming.missing():
        errors.print(coming.table(absent))
    errors.print(f"Starting the lab; then {len(plan.actions)} actions in {minutes:g} minutes, seed {seed}")
    with errors.status("Starting the lab") as shown:
        stage = open_stage(
            state,
            stack,
            factor=FACTOR,
            overrides=overrides(settings, {}),
            progress=lambda text: shown.update(f"Starting the lab: {text}"),
        )
    try:
        outcome = stage.up()
        if not outcome.ok:
            raise EngineError("\n".join(outcome.problems))
        again = f"headroom lab soak --minutes {minutes:g} --seed {seed} --stack {stack}"
        result = _play(stage, settings, plan, again, quiet=as_json)
    finally:
        if down:
            stage.close()
    if as_json:
        write_json(result.as_json())
    else:
        console.print(result.view())
        if not down:
            console.print(f"The lab stays up: KUBECONFIG={stage.plane.kubeconfig}", markup=False)
    if result.interrupted:
        raise KeyboardInterrupt
    if not result.ok:
        raise typer.Exit(1)


def _play(stage: Stage, settings: Settings, plan: Plan, again: str, *, quiet: bool) -> SoakResult:
    from lab.scenario.timeline import Timeline
    from lab.soak.player import Player
    from lab.soak.result import SoakResult
    from lab.soak.stagehand import Stagehand
    from lab.watch.sample import Sampler
    from lab.watch.show import show
    from lab.watch.watcher import Watcher

    with stage.plane.client() as client, Timeline(stage.plane.kubeconfig) as timeline:
        sampler = Sampler(stage.plane.url("prometheus"), client, stage.settings)
        try:
            with Watcher(sampler) as watcher:
                hand = Stagehand(
                    stage=stage,
                    timeline=timeline,
                    settings=settings,
                    seed=plan.seed,
                    gives_up=lambda: player.stopping,
                )
                player = Player(plan, hand, _background(stage, plan), lambda text: watcher.note("note", text))
                player.start()
                title = f"soak of {stage.stack} on the lab"
                try:
                    show(
                        watcher,
                        errors if quiet else console,
                        lambda: player.finished,
                        title=title,
                        extra=player.words,
                    )
                except KeyboardInterrupt:
                    _interrupted(player)
        finally:
            sampler.close()
    return SoakResult.of(player, plan, stage.stack, again)


def _interrupted(player: Player) -> None:
    errors.print("Interrupted: what is under way comes to its end; once more leaves at once")
    if not player.stop(INTERRUPT_SECONDS):
        errors.print(f"The action under way did not end within {INTERRUPT_SECONDS:.0f} s")


def _background(stage: Stage, plan: Plan) -> list[Load]:
    from lab.soak.stack import background

    always = [model for model in stage.settings.active_models if model.replicas.min > 0]
    return [background(stage, model, plan.seed, plan.minutes * 60 + 900) for model in always]
