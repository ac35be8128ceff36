"""The plan for a person: tables on a console."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.plan.build import ModelPlan, Plan
from planner.plan.difference import Difference, amount, movement
from planner.plan.published import scenarios
from planner.plan.timing import Timing

STAGES = ("detect", "node", "image", "weights", "engine")


def render_table(plan: Plan, console: Console) -> None:
    """Print the whole plan."""
    sources = plan.sources()
    console.print(Text(f"Plan of stack {plan.stack}, {plan.settings.region}", style="bold"))
    for model in plan.models:
        console.print(_tiers(model))
        for line in _sentences(model):
            console.print(Text(f"  {line}"))
        console.print(_machines(model))
    console.print(_caps(plan))
    console.print(_quotas(plan))
    console.print(_cost(plan))
    console.print(_published(plan))
    _recommendations(plan, console)
    other = "" if sources["ofStackRegion"] else f", NOT of {plan.settings.region}: refresh the catalogue"
    console.print(Text(f"Prices: {sources['region']}, {sources['date']}{other}", style="dim"))


def render_difference(difference: Difference, console: Console) -> None:
    """Print what changes."""
    if not difference.changes:
        console.print("Nothing changes.")
        return
    table = _table(
        f"Change from {difference.before} to {difference.after}", "item", "before", "after", "change"
    )
    for change in difference.changes:
        before, after = amount(change, change.before), amount(change, change.after)
        # Text, or `[name]` in a path would be read as markup.
        table.add_row(*map(Text, (change.item, before, after, movement(change))))
    console.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right", overflow="fold")
    return table


def _tiers(model: ModelPlan) -> Table:
    times = model.timing
    table = _table(
        f"{model.model.name}: seconds from a burst to a new replica (goal {times.ready_slo:g} s)",
        "tier",
        *STAGES,
        "ahead",
        "total",
        "verdict",
    )
    for tier in times.tiers:
        met = tier.total <= times.ready_slo
        here = " (this stack)" if tier.name == times.current else ""
        table.add_row(
            tier.name + here,
            *(f"{getattr(tier, stage):.1f}" for stage in STAGES),
            f"{-tier.hidden:.1f}" if tier.hidden else "",
            f"{tier.total:.1f}",
            Text("meets", style="green") if met else Text("misses", style="red"),
        )
    return table


def _sentences(model: ModelPlan) -> list[str]:
    times = model.timing
    found: list[str] = []
    if times.time_to_zero is not None:
        found.append(f"Zero replicas {times.time_to_zero:.0f} s after the last request, no node after"
                     f" {times.time_to_no_node:.0f} s.")  # fmt: skip
    if times.first_caller is not None:
        first = times.first_caller
        fate = "then it is served" if first.served else "but it fails before that"
        found.append(f"The first caller at zero is held for {first.seconds:.0f} s, {fate}.")
    return found + _outage_and_drain(times)


def _outage_and_drain(times: Timing) -> list[str]:
    outage, leaving = times.outage, times.leaving
    fits = leaving.longest_request_seconds <= leaving.window_seconds
    return [
        f"Without metrics: replicas are frozen for {outage.fallback_seconds:.0f} s, then the higher"
        f" of what runs and {outage.fallback_replicas}; nothing wakes from zero.",
        f"Drain {leaving.window_seconds:.0f} s, longest request {leaving.longest_request_seconds:.0f} s:"
        f" {'no request is cut' if fits else 'longer requests are cut'}."
        f" A rollout is {'' if leaving.zero_downtime else 'NOT '}without downtime.",
    ]


def _machines(model: ModelPlan) -> Table:
    table = _table(f"{model.model.name}: instance types", "type", "$/h", "verdict")
    for machine in model.machines:
        verdict = Text(machine.reason, style="dim") if machine.reason else Text("fits", style="green")
        table.add_row(machine.type.type, f"{machine.type.usd_per_hour:.3f}", verdict)
    return table


def _caps(plan: Plan) -> Table:
    caps = plan.caps
    table = _table("GPUs, layer by layer", "layer", "GPUs")
    table.add_row("replicas + surge + spares (hard)", str(caps.replicas))
    for pool in caps.pools:
        table.add_row(f"pool {pool.pool}, asked {pool.demand} (soft)", str(pool.limit))
    table.add_row("budget", str(caps.budget))
    return table


def _quotas(plan: Plan) -> Table:
    table = _table(
        "vCPUs that the AWS quotas must hold", "quota", "worst case", "largest type", "cheapest type only"
    )
    for quota in plan.quotas:
        table.add_row(
            f"{quota.name.key} {quota.name.label}", str(quota.vcpu), quota.largest, str(quota.least_vcpu)
        )
    return table


def _cost(plan: Plan) -> Table:
    cost = plan.cost
    table = _table("USD a month", "item", "floor", "typical", "ceiling")
    for line in cost.lines:
        name = f"{line.item} ({line.model})" if line.model else line.item
        table.add_row(name, *(f"{value:,.2f}" for value in (line.floor, line.typical, line.ceiling)))
    table.add_section()
    table.add_row("total", *(f"{value:,.2f}" for value in (cost.floor, cost.typical, cost.ceiling)))
    table.add_row("typical, all on-demand", "", f"{cost.on_demand_typical:,.2f}", "")
    if cost.spot_typical is not None:
        table.add_row("typical, spot where allowed", "", f"{cost.spot_typical:,.2f}", "")
    table.add_row("only the dearest types to be had", "", "", f"{cost.scarce_ceiling:,.2f}")
    if cost.budget is not None:
        within = Text("within", style="green") if cost.ceiling <= cost.budget else Text("above", style="red")
        table.add_row("budget", "", within, f"{cost.budget:,.2f}")
    for item in cost.unpriced:
        table.add_row(f"{item}: no price known", "?", "?", "?")
    return table


def _published(plan: Plan) -> Table:
    table = _table(
        "The commonly published comparison (g5.2xlarge, 30 days), GPU hours alone",
        "scenario", "GPU-hours a day", "USD", "published as",
    )  # fmt: skip
    for scenario in scenarios():
        published = f"{scenario.published_usd:,.0f}" if scenario.published_usd else ""
        table.add_row(scenario.name, f"{scenario.gpu_hours_a_day:g}", f"{scenario.usd:,.0f}", published)
    missing = sum(line.typical for line in plan.cost.lines if line.item != "gpuNodes")
    table.caption = f"It leaves out ${missing:,.0f} a month of this stack's typical bill."
    return table


def _recommendations(plan: Plan, console: Console) -> None:
    if not plan.recommendations:
        console.print("No change found that pays for itself.")
        return
    table = _table("Worth changing", "key", "from", "to", "USD a month", "ready", "in violation")
    for entry in plan.recommendations:
        table.add_row(
            Text(entry.path),
            Text(str(entry.given)),
            Text(str(entry.wanted)),
            f"{entry.usd:+,.0f}{' (estimated)' if entry.estimated else ''}",
            f"{entry.ready_seconds:.0f} s" if entry.ready_seconds is not None else "",
            f"{entry.violation_share:.2%}" if entry.violation_share is not None else "",
        )
    console.print(table)
