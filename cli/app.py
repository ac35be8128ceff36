"""The commands and their names."""

from __future__ import annotations

import typer

from cli.calibrate import calibrate, catalogue
from cli.check import check
from cli.cloud import preview, rehearse
from cli.doctor import doctor
from cli.lab import lab
from cli.plan import plan
from cli.preflight import preflight
from cli.render import render
from cli.replay import replay
from cli.review import review
from cli.tools import tools
from cli.watch import watch
from cli.weights import weights

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
app.command()(plan)
app.command()(replay)
app.command()(preflight)
app.command()(review)
app.command()(calibrate)
app.add_typer(catalogue, name="catalogue")
app.add_typer(weights, name="weights")
app.add_typer(lab, name="lab")
app.command()(watch)
app.command()(doctor)
app.command()(tools)
