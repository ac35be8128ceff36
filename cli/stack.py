"""Which stack a command is about: `--stack NAME` in this project, or `--stack-file PATH` anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from specs import checks
from specs.checks import Findings
from specs.problems import Problem, SettingsError
from specs.settings.source import StackFile, load, stack_path
from specs.settings.stack import Settings

PROJECT = Path(__file__).resolve().parent.parent
StackOption = Annotated[
    str | None, typer.Option("--stack", "-s", help="Stack of this project, such as dev or prod.")
]
StackFileOption = Annotated[
    Path | None, typer.Option("--stack-file", help="A stack file, such as Pulumi.prod.yaml.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@dataclass(frozen=True)
class Checked:
    """A stack file with all that is known of it; `settings` is None when it can't be read at all."""

    file: StackFile
    settings: Settings | None
    findings: Findings


def path_of(stack: str | None, stack_file: Path | None) -> Path:
    """The stack file the options name. Raises SettingsError unless exactly one is given."""
    if (stack is None) == (stack_file is None):
        given = "neither --stack nor --stack-file" if stack is None else "both --stack and --stack-file"
        raise SettingsError(
            [Problem("command line", given, "exactly one of them", "name one, e.g. --stack dev")]
        )
    if stack_file is not None:
        return stack_file
    path = stack_path(PROJECT, stack or "")
    if not path.is_file():
        known = sorted(file.name.split(".")[1] for file in PROJECT.glob("Pulumi.*.yaml"))
        raise SettingsError(
            [Problem("--stack", str(stack), f"one of {', '.join(known)}", f"create {path.name}")]
        )
    return path


def examine(stack: str | None, stack_file: Path | None) -> Checked:
    """Read and check; raises SettingsError only for a file that can't be read."""
    file = load(path_of(stack, stack_file))
    return Checked(file, *checks.examine(file.config, file.stack))


def accepted(stack: str | None, stack_file: Path | None) -> tuple[StackFile, Settings]:
    """A stack file whose settings can be used. Raises SettingsError with every problem otherwise."""
    checked = examine(stack, stack_file)
    if checked.settings is None or checked.findings.problems:
        raise SettingsError(checked.findings.problems)
    return checked.file, checked.settings
