"""The plan's dollars for a person: the bill, the published comparison, what is worth changing."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.plan.build import Plan
from planner.plan.cost import Cost, Line
from planner.plan.grid import grid
from planner.plan.published import scenarios
from planner.replay import ALLOWED_SHARE


def render_bill(plan: Plan, console: Console, full: bool) -> None:
    """The month's bill: one row for the platform and one a model, or line by line."""
    cost = plan.cost
    table = grid("USD a month", "item", "floor", "typical", "ceiling")
    for name, lines in _rows(cost, full):
        _row(
            table,
            name,
            *(sum(getattr(line, way) for line in lines) for way in ("floor", "typical", "ceiling")),
        )
    table.add_section()
    _row(table, "total", cost.floor, cost.typical, cost.ceiling)
    _row(table, "  typical, all on-demand", None, cost.on_demand_typical, None)
    if cost.spot_typical is not None:
        _row(table, "  typical, spot where allowed", None, cost.spot_typical, None)
    _row(table, "  ceiling, only the dearest types to be had", None, None, cost.scarce_ceiling)
    if cost.budget is not None:
        within = Text("within", style="green") if cost.ceiling <= cost.budget else Text("above", style="red")
        table.add_row("budget", "", within, f"{cost.budget:,.2f}")
    for item in cost.unpriced:
        table.add_row(f"{item}: no price known", "?", "?", "?")
    console.print(table)
    console.print(Text(f"Typical: {_loads(plan)}.", style="dim"), soft_wrap=False)
    for entry in plan.models:
        if entry.floor is not None and entry.floor.without.violation_share > ALLOWED_SHARE:
            console.print(Text(f"{entry.model.name}: {entry.floor.advice}"), soft_wrap=False)
    console.print()


def _rows(cost: Cost, full: bool) -> Iterable[tuple[str, list[Line]]]:
    if full:
        for line in cost.lines:
            if not line.floor and not line.typical and not line.ceiling:
                continue
            yield (f"{line.item} ({line.model})" if line.model else line.item), [line]
        return
    shared = [line for line in cost.lines if line.model is None]
    if shared:
        yield "platform", shared
    for model in dict.fromkeys(line.model for line in cost.lines if line.model is not None):
        yield model, [line for line in cost.lines if line.model == model]


def _loads(plan: Plan) -> str:
    """What each typical month rests on; models on the same load are named together."""
    by_source: dict[str, list[str]] = {}
    for entry in plan.models:
        source = entry.month.source
        words = (
            f"an assumed {source} day whose busiest hour asks for every replica (--trace gives yours)"
            if entry.month.assumed
            else f"the trace {source}"
        )
        late = entry.month.violation_share
        note = "" if late is None else f" (late {late:.2%} of the time)"
        by_source.setdefault(words, []).append(entry.model.name + note)
    return "; ".join(f"{words} for {', '.join(names)}" for words, names in by_source.items()) or "no model"


def render_published(plan: Plan, console: Console, full: bool) -> None:
    """The commonly published comparison beside what it leaves out."""
    missing = sum(line.typical for line in plan.cost.lines if line.item != "gpuNodes")
    left = f"It leaves out ${missing:,.0f} a month of this stack's typical bill."
    if full:
        table = grid(
            "The commonly published comparison (g5.2xlarge, 30 days), GPU hours alone",
            "scenario", "GPU-hours a day", "USD", "published as",
        )  # fmt: skip
        for scenario in scenarios():
            published = f"{scenario.published_usd:,.0f}" if scenario.published_usd else ""
            table.add_row(scenario.name, f"{scenario.gpu_hours_a_day:g}", f"{scenario.usd:,.0f}", published)
        table.caption = left
        console.print(table, "")
        return
    told = ", ".join(f"{entry.gpu_hours_a_day:g} h ${entry.usd:,.0f}" for entry in scenarios()[:3])
    console.print(
        Text.assemble(
            ("The commonly published comparison", "bold"),
            f" of GPU-hours a day on g5.2xlarge: {told}. {left}",
        ),
        soft_wrap=False,
    )
    console.print()


def render_recommendations(plan: Plan, console: Console) -> None:
    """Changes that pay for themselves or meet a goal, with their price."""
    if not plan.recommendations:
        console.print("Worth changing: nothing found that pays for itself.")
        return
    table = grid("Worth changing", "key", "from", "to", "USD a month", "ready", "late")
    for entry in plan.recommendations:
        table.add_row(
            Text(entry.path),
            Text(_short(entry.given)),
            Text(_short(entry.wanted)),
            f"{entry.usd:+,.0f}{' ~' if entry.estimated else ''}",
            f"{entry.ready_seconds:.0f} s" if entry.ready_seconds is not None else "",
            f"{entry.violation_share:.2%}" if entry.violation_share is not None else "",
        )
    table.caption = "~ estimated; ready: a burst's wait; late: share of the time in violation"
    console.print(table)


def _short(value: object) -> str:
    """A list without its brackets and quotes."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - of any content


def _row(table: Table, name: str, *amounts: float | None) -> None:
    table.add_row(Text(name), *("" if usd is None else f"{usd:,.2f}" for usd in amounts))
