"""`headroom preview` and `headroom rehearse`: the real engine and the policy pack over the recorded cloud."""

from __future__ import annotations

import json
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cli.stack import PROJECT, JsonOption, accepted, path_of
from cli.terminal import console, errors, write_json
from cli.tools import built

if TYPE_CHECKING:
    from lab.cloud.outcome import Event, OnEvent, Outcome, Step
    from lab.cloud.pack import PolicyPack
    from lab.cloud.session import RecordedCloud

STATE = PROJECT / ".headroom" / "cloud"
STYLES = {"create": "green", "delete": "red", "update": "yellow", "replace": "magenta", "same": "dim"}
GUIDE = 4  # columns of a tree's lines, for each level
MOST_NAMES = 30
UNCUT = 10_000  # columns of a file or a pipe
NamedStack = Annotated[str, typer.Option("--stack", "-s", help="Stack of this project, such as dev or prod.")]
PackOption = Annotated[bool, typer.Option("--policies/--no-policies", help="Judge with the policy pack.")]

LabOption = Annotated[
    Path | None,
    typer.Option(
        "--lab",
        help="Folder of a lab to be the cluster: real API server, Karpenter and KEDA, simulated engines.",
    ),
]
REHEARSED = 0.05
"""Starts on a lab take a twentieth of the plan's seconds."""


def preview(stack: NamedStack = "dev", policies: PackOption = True, as_json: JsonOption = False) -> None:
    """Preview with the real Pulumi engine and the policy pack, no credentials. Exits 1 when blocked."""
    accepted(stack, None)
    with _cloud() as cloud, progress(f"Previewing {stack}") as on_event:
        outcome = cloud.preview(stack, pack=_pack(stack) if policies else None, on_event=on_event)
    _report(outcome, as_json)


def rehearse(stack: NamedStack = "prod", lab: LabOption = None, as_json: JsonOption = False) -> None:
    """Bring the stack up over the recorded cloud, policy pack on; run it again to see that nothing changes."""
    accepted(stack, None)
    if lab is not None:
        outcome = _on_lab(stack, lab)
    else:
        with _cloud() as cloud, progress(f"Bringing {stack} up over the recorded cloud") as on_event:
            outcome = cloud.up(stack, pack=_pack(stack), on_event=on_event)
    _report(outcome, as_json)


def _on_lab(stack: str, state: Path) -> Outcome:
    from lab.stage.held import refuse_another
    from lab.stage.stage import open_stage

    refuse_another(state, stack)
    with errors.status("Starting the lab") as status:
        stage = open_stage(state, stack, project=PROJECT, factor=REHEARSED, progress=status.update)
    with progress(f"Bringing {stack} up on the lab in {state}") as on_event:
        outcome = stage.up(on_event=on_event)
    told = f"KUBECONFIG={stage.plane.kubeconfig}; end it with `headroom lab down --state {state}`"
    errors.print(f"The lab stays up: {told}", markup=False, highlight=False)
    return outcome


def _cloud() -> RecordedCloud:
    # Rooms are imported when a command needs them.
    from lab.cloud.session import RecordedCloud

    return RecordedCloud(PROJECT, STATE, built("pulumi"))


def _pack(stack: str) -> PolicyPack:
    from lab.cloud.pack import PolicyPack

    folder = PROJECT / "policies"
    config = folder / f"{path_of(stack, None).name.split('.')[1]}.json"
    return PolicyPack(path=folder, config=config if config.is_file() else None)


class progress:  # noqa: N801 - used as a context manager function
    """A spinner with the count of finished resources, on standard error."""

    def __init__(self, title: str) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=errors,
            transient=True,
        )
        self._title, self._done = title, 0

    def __enter__(self) -> OnEvent:
        self._bar.start()
        self._task = self._bar.add_task(self._title)
        return self._note

    def _note(self, event: Event) -> None:
        if hasattr(event, "failed"):  # a Step: a resource operation that has ended
            self._done += 1
            self._bar.update(
                self._task, description=f"{self._title}: {self._done} resources, {getattr(event, 'name', '')}"
            )

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def _report(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        write_json(as_document(outcome))
    else:
        if console.is_terminal:
            console.print(tree(outcome, console.width))
        else:
            Console(width=UNCUT, highlight=False).print(tree(outcome, None))
        _violations(outcome)
        _outputs(outcome)
        counts = ", ".join(f"{count} {op}" for op, count in sorted(outcome.changes.items()))
        console.print(
            f"{outcome.operation} of {outcome.stack}: {outcome.status} in {outcome.seconds:.1f} s: {counts}"
        )
    told = tuple(f"{found.policy}:" for found in outcome.violations) if not as_json else ()
    for problem in (problem for problem in outcome.problems if not problem.startswith(told or ("\0",))):
        errors.print(Text(problem, style="red"))
    if not outcome.ok:
        raise typer.Exit(1)


def as_document(outcome: Outcome) -> dict[str, object]:
    """What `--json` prints; policy messages as the pack wrote them, no secrets."""
    return {
        "operation": outcome.operation,
        "stack": outcome.stack,
        "status": outcome.status,
        "changes": dict(sorted(outcome.changes.items())),
        "steps": [
            {"op": step.op, "type": step.type, "name": step.name, "urn": step.urn} for step in outcome.steps
        ],
        "violations": [
            {"policy": v.policy, "level": v.level, "severity": v.severity, "urn": v.urn, "message": v.message}
            for v in outcome.violations
        ],
        "problems": list(outcome.problems),
        "seconds": round(outcome.seconds, 3),
    }


def tree(outcome: Outcome, width: int | None) -> Tree:
    """What changes, below the components it belongs to; unchanged resources are counted, not listed.

    Names wrap at `width` columns under the kind they belong to; without a width each kind is one line, for `grep`.
    """
    children: Mapping[str, list[Step]] = defaultdict(list)
    steps = _changed(outcome)
    known = {step.urn for step in steps}
    for step in sorted(steps, key=lambda step: step.urn):
        children[step.parent if step.parent in known else ""].append(step)
    tree = Tree(Text(f"headroom {outcome.stack}", style="bold"))

    def grow(branch: Tree, parent: str, depth: int) -> None:
        leaves = [step for step in children[parent] if not children.get(step.urn)]
        for (op, kind), count in sorted(Counter((step.op, step.type) for step in leaves).items()):
            names = [step.name for step in leaves if (step.op, step.type) == (op, kind)]
            branch.add(_leaf(op, kind, names if count < MOST_NAMES else [f"x {count}"], width, depth))
        for step in children[parent]:
            if children.get(step.urn):
                named = Text.assemble(
                    (step.op, STYLES.get(step.op, "")), " ", step.name, " ", (short(step.type), "cyan")
                )
                grow(branch.add(named), step.urn, depth + 1)

    grow(tree, "", 1)
    return tree


def _leaf(op: str, kind: str, names: Sequence[str], width: int | None, depth: int) -> Text:
    """`op kind names`, the names under each other's beginning where they need more than one line."""
    head, told = f"{op} {short(kind)} ", ", ".join(names)
    room = None if width is None else max(width - GUIDE * depth, 30)
    lines = [told] if room is None else textwrap.wrap(
        head + told, room, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )  # fmt: skip
    text = Text(head + told if room is None else "\n".join(lines))
    text.stylize(STYLES.get(op, ""), 0, len(op))
    text.stylize("cyan", len(op) + 1, len(head) - 1)
    return text


def short(kind: str) -> str:
    """A type token without what it says twice: aws:iam/role:Role is aws:iam:Role; apps/v1:Deployment speaks for
    itself."""
    package, _, rest = kind.partition(":")
    module, _, name = rest.rpartition(":")
    if package == "kubernetes":
        return f"{module}:{name}"
    return ":".join(part for part in (package, module.partition("/")[0].replace("index", ""), name) if part)


def _changed(outcome: Outcome) -> list[Step]:
    """The steps that change something and the parents above them."""
    by_urn = {step.urn: step for step in outcome.steps}
    kept: dict[str, Step] = {}
    for step in outcome.steps:
        current = step if step.op != "same" else None
        while current is not None and current.urn not in kept:
            kept[current.urn] = current
            current = by_urn.get(current.parent)
    return list(kept.values())


def _violations(outcome: Outcome) -> None:
    if not outcome.violations:
        return
    table = Table(title="Policy findings", title_justify="left", show_lines=True)
    for column in ("policy", "level", "finding"):
        table.add_column(column, overflow="fold")
    for found in outcome.violations:
        table.add_row(found.policy, found.level, found.message)
    console.print(table)


def _outputs(outcome: Outcome) -> None:
    if not outcome.outputs or outcome.operation == "preview":
        return
    table = Table(title="Outputs", title_justify="left", show_header=False)
    for name, value in sorted(outcome.outputs.items()):
        shown = value if isinstance(value, str) else json.dumps(value, indent=1)
        table.add_row(name, Text(shown.strip("{}").strip() if isinstance(value, dict) else shown))
    console.print(table)
