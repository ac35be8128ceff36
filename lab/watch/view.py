"""The live view: figures, their last minutes, nodes and events, fitted to the terminal's size."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.watch import words
from lab.watch.events import Event
from lab.watch.figures import ModelSample, Sample
from lab.watch.history import History, ModelFigure
from lab.watch.spark import BLOCKS, spark

SHOWN_SECONDS = 300.0
WIDE = 120
"""Columns from which nodes and events stand beside the trends."""
_LEAST_EVENTS = 3


class Trend(NamedTuple):
    """A row of a model's last minutes; rows of one ``scale`` are drawn to the same top."""

    label: str
    figure: ModelFigure
    style: str
    scale: str
    digits: int = 0


TRENDS = (
    Trend("req/s", "rate", "cyan", "rate", 1),
    Trend("queue", "waiting", "yellow", "queue"),
    Trend("demand", "demand", "magenta", "replicas", 1),
    Trend("desired", "desired", "blue", "replicas"),
    Trend("ready", "ready", "green", "replicas"),
)


def view(
    history: History,
    *,
    title: str,
    now: float,
    width: int,
    height: int,
    levels: str = BLOCKS,
    extra: Sequence[Text] = (),
) -> RenderableType:
    """The whole picture in at most `width` x `height` characters. `extra` lines stand below the figures."""
    sample = history.last
    if sample is None:
        return Text(f"{title}: the first look is being taken")
    problems = [Text(line, style="bold red", no_wrap=True) for line in words.away(history, now)]
    head: list[RenderableType] = [_header(history, sample, title, width), *problems, _models(sample, width)]
    head += extra
    rows = height - 1 - (1 + len(problems) + 1 + len(sample.models) + len(extra)) - 1
    if width >= WIDE:
        left = _trends(history, sample, now, width // 2, rows, levels)
        right = _side(history, sample, rows)
        grid = Table.grid(padding=(0, 3))
        grid.add_column(width=width // 2)
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        grid.add_row(Group(*left), Group(*right))
        return Group(*head, Text(), grid)
    nodes = _nodes(sample, limit=4)
    for_trends = rows - len(nodes) - 1 - (_LEAST_EVENTS + 1)
    trends = _trends(history, sample, now, width, for_trends, levels)
    events = _events(history.events, rows - len(trends) - len(nodes) - 1)
    return Group(*head, Text(), *trends, *nodes, Text(), *events)


def _header(history: History, sample: Sample, title: str, width: int) -> Text:
    left = f"{title}  {words.wall_clock(sample.at)}  watched {words.span(history.seconds)}"
    gpus = "-" if sample.gpus is None else words.counted(sample.gpus, "GPU")
    right = f"{gpus}  {words.usd(sample.usd_per_hour)}/h  {words.usd(history.usd)} so far"
    gap = max(2, width - len(left) - len(right))
    return Text.assemble((left, "bold"), " " * gap, (right, "bold"), no_wrap=True, overflow="ellipsis")


def _models(sample: Sample, width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("model", no_wrap=True, overflow="ellipsis", max_width=max(14, width - 66))
    titles = ["req/s", "queue", "held", "demand", "forecast", "TTFT", "desired", "ready"]
    wide = width >= WIDE
    for title in [*titles, *(["pending", "leaving", "running", "autoscaler"] if wide else [])]:
        table.add_column(title, justify="left" if title == "autoscaler" else "right", no_wrap=True)
    for model in sample.models:
        cells: list[str | Text] = [
            Text(model.name, style="bold red" if model.trouble else "bold"),
            words.number(model.rate, 1),
            _loud(model.waiting),
            _loud(model.held),
            words.number(model.demand, 1),
            words.number(model.forecast, 1),
            "-" if model.ttft_p95 is None else f"{model.ttft_p95:.1f}s",
            words.number(model.desired),
            _ready(model),
        ]
        if wide:
            cells += [words.number(model.pending), words.number(model.leaving), words.number(model.running)]
            cells.append(
                Text(model.trouble, style="red") if model.trouble else "acts" if model.desired else ""
            )
        table.add_row(*cells)
    return table


def _loud(value: float | None) -> Text:
    return Text(words.number(value), style="yellow" if value else "")


def _ready(model: ModelSample) -> Text:
    short = model.ready is not None and model.desired is not None and model.ready < model.desired
    return Text(words.number(model.ready), style="yellow" if short else "green")


def _trends(
    history: History, sample: Sample, now: float, width: int, rows: int, levels: str
) -> list[RenderableType]:
    """As many models as fit, those that are awake first."""
    shown = max(0, rows) // (len(TRENDS) + 1)
    awake = sorted(sample.models, key=lambda model: not (model.desired or model.rate))
    found: list[RenderableType] = []
    for model in awake[:shown]:
        found += _trend(history, model.name, now, width, levels)
    return found


def _trend(history: History, name: str, now: float, width: int, levels: str) -> list[RenderableType]:
    moments = [sample.at for sample in history.samples]
    end = max(now, moments[-1])
    start = max(end - SHOWN_SECONDS, moments[0]) if end - moments[0] > 60 else end - 60
    found: list[RenderableType] = [
        Text.assemble((name, "bold"), (f"  last {words.span(end - start)}", "dim"), no_wrap=True)
    ]
    series = {trend: history.of_model(name, trend.figure) for trend in TRENDS}
    highest = {trend: _highest(moments, values, start) for trend, values in series.items()}
    room = width - 10 - 12
    for trend, values in series.items():
        top = max(highest[other] for other in TRENDS if other.scale == trend.scale)
        line = spark(moments, values, start=start, end=end, width=room, top=top, levels=levels)
        most = f" max {highest[trend]:.{trend.digits}f}"
        found.append(Text.assemble(f"  {trend.label:<8}", (line, trend.style), (most, "dim"), no_wrap=True))
    return found


def _highest(moments: Sequence[float], values: Sequence[float | None], start: float) -> float:
    return max(
        (value for at, value in zip(moments, values, strict=True) if value is not None and at >= start),
        default=0.0,
    )


def _nodes(sample: Sample, limit: int) -> list[RenderableType]:
    if sample.nodes is None:
        return [Text("nodes: not known", style="dim")]
    groups = words.node_groups(sample)
    limits = ", ".join(f"{pool.name} at most {words.counted(pool.gpu_limit, 'GPU')}" for pool in sample.pools)
    found: list[RenderableType] = [
        Text.assemble(
            (words.counted(len(sample.nodes), "node"), "bold"), (f"  {limits}", "dim"), no_wrap=True
        )
    ]
    for (_, instance, capacity, zone), nodes in groups[: limit if len(groups) <= limit else limit - 1]:
        price = nodes[0].usd_per_hour
        each = "" if not capacity else "no price known" if price is None else f"{words.usd(price)}/h each"
        text = f"  {instance:<13} {capacity:<10} {zone:<11} {words.states(nodes)}  {each}"
        found.append(Text(text, no_wrap=True, overflow="ellipsis"))
    if len(groups) > limit:
        found.append(Text(f"  and {len(groups) - limit + 1} more kinds", style="dim"))
    return found


def _events(events: Iterable[Event], rows: int) -> list[RenderableType]:
    return [_event(event) for event in list(events)[-rows:]] if rows > 0 else []


def _event(event: Event) -> Text:
    style = {"phase": "bold cyan", "source": "red", "autoscaler": "red", "ready": "green"}.get(event.kind, "")
    text = f"phase: {event.text}" if event.kind == "phase" else event.text
    return Text.assemble(
        (words.wall_clock(event.at), "dim"), " ", (text, style), no_wrap=True, overflow="ellipsis"
    )


def _side(history: History, sample: Sample, rows: int) -> list[RenderableType]:
    nodes = _nodes(sample, limit=8)
    return [*nodes, Text(), *_events(history.events, rows - len(nodes) - 1)]
