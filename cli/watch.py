"""`headroom watch`: the scaling loop as it happens, on the lab or a real cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.cluster import kubeconfig, no_stack
from cli.lab import STATE, StateOption
from cli.stack import PROJECT, StackFileOption, StackOption, accepted
from cli.terminal import console

if TYPE_CHECKING:
    from lab.watch.events import Event
    from lab.watch.figures import Sample
    from lab.watch.targets import Target


def watch(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    state: StateOption = STATE,
    prometheus: Annotated[
        str | None,
        typer.Option("--prometheus", help="URL of Prometheus; on a cluster that of a port-forward."),
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="Watch the cluster of this kubeconfig context instead.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.1, help="End by itself after so long.")
    ] = None,
    every: Annotated[
        float, typer.Option("--every", min=0.5, max=600, help="Seconds between two looks.")
    ] = 2.0,
    record: Annotated[
        Path | None, typer.Option("--record", help="Folder in which samples and events are kept.")
    ] = None,
) -> None:
    """Watch queue, demand, forecast, replicas, nodes and dollars; Ctrl-C ends it."""
    from lab.watch.record import Recorder
    from lab.watch.show import show
    from lab.watch.watcher import Watcher

    try:
        with ExitStack() as held:
            target = _target(stack, stack_file, state, prometheus, context)
            held.callback(target.close)
            recorder = held.enter_context(Recorder(record)) if record else None
            until = _until(seconds)
            watcher = Watcher(
                target.sampler,
                seconds=every,
                recorder=recorder,
                on_sample=_print_json if as_json else None,
            )
            held.enter_context(watcher)
            if not as_json:
                show(watcher, console, until, title=target.name, screen=True)
            while as_json and not until() and watcher.failure is None:
                time.sleep(0.1)
    except KeyboardInterrupt:
        return


def _target(
    stack: str | None, stack_file: Path | None, state: Path, prometheus: str | None, context: str | None
) -> Target:
    from lab.watch import targets

    if stack is None and stack_file is None:
        if context is not None:
            raise no_stack("--context")
        stack_file = targets.staged_stack(state) or PROJECT / "Pulumi.local.yaml"
    file, settings = accepted(stack, stack_file)
    if context is None:
        return targets.of_lab(state, file.stack, settings, prometheus)
    return targets.of_cluster(context, kubeconfig(), file.stack, settings, prometheus)


def _until(seconds: float | None) -> Callable[[], bool]:
    end = None if seconds is None else time.monotonic() + seconds
    return lambda: end is not None and time.monotonic() >= end


def _print_json(sample: Sample, events: list[Event]) -> None:
    from lab.watch.record import document

    sys.stdout.write(json.dumps(document(sample, events), ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()
