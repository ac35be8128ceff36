"""The plan for a person: a screen or two, or all of it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.plan.bill import render_bill, render_published, render_recommendations
from planner.plan.build import ModelPlan, Plan
from planner.plan.caps import QuotaName
from planner.plan.difference import Difference, amount, movement
from planner.plan.grid import grid
from planner.plan.timing import FirstCaller, Timing

STAGES = ("detect", "node", "image", "weights", "engine")


def render_table(plan: Plan, console: Console, full: bool = False) -> None:
    """Print the plan; `full` with each line of the bill, every instance type and the behaviour in words."""
    sources = plan.sources()
    console.print(Text(f"Plan of stack {plan.stack}, {plan.settings.region}", style="bold"))
    if plan.models:
        console.print(_tiers(plan.models), "")
        if full:
            for model in plan.models:
                _in_words(model, console)
                console.print(_machines(model), "")
        else:
            console.print(_behaviour(plan.models), "")
            console.print(_types(plan.models), "")
    _caps(plan, console)
    console.print(_quotas(plan), "")
    render_bill(plan, console, full)
    render_published(plan, console, full)
    render_recommendations(plan, console)
    other = "" if sources["ofStackRegion"] else f", NOT of {plan.settings.region}: refresh the catalogue"
    more = "" if full else "; --full prints each line of the bill, every instance type and the sums"
    console.print(Text(f"Prices: {sources['region']}, {sources['date']}{other}{more}", style="dim"))


def render_difference(difference: Difference, console: Console) -> None:
    """Print what changes."""
    if not difference.changes:
        console.print("Nothing changes.")
        return
    table = grid(
        f"Change from {difference.before} to {difference.after}", "item", "before", "after", "change"
    )
    for change in difference.changes:
        before, after = amount(change, change.before), amount(change, change.after)
        # Text, or `[name]` in a path would be read as markup.
        table.add_row(*map(Text, (change.item, before, after, movement(change))))
    console.print(table)


def _tiers(models: Sequence[ModelPlan]) -> Table:
    table = grid(
        "Seconds from a burst to a new replica that serves",
        "model and tier", *STAGES, "total", "",
    )  # fmt: skip
    for model in models:
        times = model.timing
        table.add_row(Text(f"{model.model.name} (goal {times.ready_slo:g} s)", style="bold"))
        for tier in times.tiers:
            met = tier.total <= times.ready_slo
            note = " (this stack)" if tier.name == times.current else ""
            if tier.hidden:
                note = f", {tier.hidden:.0f} s ahead"
            table.add_row(
                f"  {tier.name}{note}",
                *(f"{getattr(tier, stage):.1f}" for stage in STAGES),
                f"{tier.total:.1f}",
                Text("meets", style="green") if met else Text("misses", style="red"),
            )
    return table


def _behaviour(models: Sequence[ModelPlan]) -> Table:
    table = grid(
        "What it does", "model", "to zero", "first caller", "no metrics", "drain", "longest", "rollout"
    )
    for model in models:
        times = model.timing
        outage, leaving = times.outage, times.leaving
        fits = leaving.longest_request_seconds <= leaving.window_seconds
        table.add_row(
            Text(model.model.name),
            f"{times.time_to_zero:.0f}/{times.time_to_no_node:.0f} s" if times.time_to_zero else "never",
            _first(times.first_caller),
            f"{outage.fallback_seconds:.0f} s, {outage.fallback_replicas}",
            f"{leaving.window_seconds:.0f} s",
            Text(f"{leaving.longest_request_seconds:.0f} s", style="" if fits else "yellow"),
            "no gap" if leaving.zero_downtime else Text("a gap", style="yellow"),
        )
    table.caption = (
        "to zero: no replica and no node after the last request; no metrics: frozen, then\n"
        "at least so many replicas; longest: a request that outlasts the drain is cut"
    )
    return table


def _first(caller: FirstCaller | None) -> str:
    if caller is None:
        return "at once"
    return f"held {caller.seconds:.0f} s" if caller.served else f"fails in {caller.seconds:.0f} s"


def _types(models: Sequence[ModelPlan]) -> Table:
    table = grid("Instance types, cheapest first", "model", "fit", "refused")
    table.columns[1].justify = "left"
    for model in models:
        good = sorted(
            (machine.type for machine in model.machines if not machine.reason),
            key=lambda entry: entry.usd_per_hour,
        )
        named = ", ".join(f"{entry.type} ${entry.usd_per_hour:.3f}" for entry in good[:2])
        more = f" and {len(good) - 2} more" if len(good) > 2 else ""
        fit = Text(named + more) if good else Text("none", style="red")
        table.add_row(Text(model.model.name), fit, str(len(model.machines) - len(good)))
    return table


def _in_words(model: ModelPlan, console: Console) -> None:
    console.print(Text(model.model.name, style="bold"))
    for line in _sentences(model.timing):
        console.print(Text(f"  {line}"))


def _sentences(times: Timing) -> list[str]:
    found: list[str] = []
    if times.time_to_zero is not None:
        found.append(f"Zero replicas {times.time_to_zero:.0f} s after the last request, no node after"
                     f" {times.time_to_no_node:.0f} s.")  # fmt: skip
    if times.first_caller is not None:
        first = times.first_caller
        fate = "then it is served" if first.served else "but it fails before that"
        found.append(f"The first caller at zero is held for {first.seconds:.0f} s, {fate}.")
    outage, leaving = times.outage, times.leaving
    fits = leaving.longest_request_seconds <= leaving.window_seconds
    return [
        *found,
        f"Without metrics: replicas are frozen for {outage.fallback_seconds:.0f} s, then the higher"
        f" of what runs and {outage.fallback_replicas}{', also at zero' if outage.wakes_from_zero else ''}.",
        f"Drain {leaving.window_seconds:.0f} s, longest request {leaving.longest_request_seconds:.0f} s:"
        f" {'no request is cut' if fits else 'longer requests are cut'}."
        f" A rollout is {'' if leaving.zero_downtime else 'NOT '}without downtime.",
    ]


def _machines(model: ModelPlan) -> Table:
    table = grid("", "type", "$/h", "verdict")
    table.columns[2].justify = "left"
    for machine in model.machines:
        verdict = Text(machine.reason, style="dim") if machine.reason else Text("fits", style="green")
        table.add_row(machine.type.type, f"{machine.type.usd_per_hour:.3f}", verdict)
    return table


def _caps(plan: Plan, console: Console) -> None:
    caps = plan.caps
    pools = ", ".join(f"{pool.pool} {pool.demand} of {pool.limit}" for pool in caps.pools)
    console.print(
        Text.assemble(
            ("GPUs at most: ", "bold"),
            f"{caps.replicas} (replicas, {caps.surge} for rollouts, {caps.spares} spare) of a budget of"
            f" {caps.budget}; pools, as limits of launches: {pools}.",
        ),
        soft_wrap=False,
    )
    console.print()


def _quotas(plan: Plan) -> Table:
    table = grid("vCPUs that the AWS quotas must hold", "quota", "worst case", "all on", "at least")
    for quota in plan.quotas:
        name = f"{quota.name.key} {_short(quota.name)}"
        table.add_row(Text(name), str(quota.vcpu), quota.largest, str(quota.least_vcpu))
    return table


def _short(name: QuotaName) -> str:
    """AWS's own name less the words that each of them has; the code finds it in the console."""
    words = name.label.partition(" (")[0].replace(" Instance Requests", "").replace(" instances", "")
    return words.removeprefix("Running ").removeprefix("All ")
