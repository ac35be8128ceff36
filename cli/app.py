"""The commands and their names."""

from __future__ import annotations

import typer

from cli.check import check
from cli.cloud import preview, rehearse
from cli.render import render
from cli.tools import tools

app = typer.Typer(
    name="headroom",
    help="LLM serving on EKS with predictive GPU autoscaling: check, preview, plan and rehearse a stack.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(check)
app.command()(render)
app.command()(preview)
app.command()(rehearse)
app.command()(tools)
