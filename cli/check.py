"""`headroom check`: every problem and warning of a stack's configuration."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from ruamel.yaml import YAML

from cli.stack import Checked, JsonOption, StackFileOption, StackOption, examine
from cli.terminal import console, errors, line, tell, write_json
from specs.problems import SettingsError


def check(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    show: Annotated[bool, typer.Option("--show", help="Print the settings with every default.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the configuration; print every problem and warning. Exits 2 when it is refused."""
    try:
        checked = examine(stack, stack_file)
    except SettingsError as error:
        if not as_json:
            raise
        write_json({"problems": [problem.as_json() for problem in error.problems], "warnings": []})
        raise typer.Exit(2) from error
    if as_json:
        _json(checked, show)
    else:
        _text(checked, show)
    if checked.findings.problems:
        raise typer.Exit(2)


def _json(checked: Checked, show: bool) -> None:
    document: dict[str, object] = {
        "problems": [problem.as_json() for problem in checked.findings.problems],
        "warnings": [warning.as_json() for warning in checked.findings.warnings],
    }
    if show and checked.settings is not None:
        document["settings"] = checked.settings.model_dump(mode="json", by_alias=True)
    write_json(document)


def _text(checked: Checked, show: bool) -> None:
    if show and checked.settings is not None:
        YAML().dump(checked.settings.model_dump(mode="json", by_alias=True), sys.stdout)
        sys.stdout.flush()
    tell(checked.findings.problems)
    for warning in checked.findings.warnings:
        errors.print(line(warning, "warning ", "yellow"))
    if not checked.findings.problems:
        count = len(checked.findings.warnings)
        note = f", {count} warning{'s' if count != 1 else ''}" if count else ""
        console.print(f"[green]Stack {checked.file.stack} is accepted[/]{note}")
