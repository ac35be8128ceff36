"""The page around the charts: headline figures, timelines, costs beside the bound, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from planner.replay import ReplayResult
from planner.report.chart import Line, bands, bars, plot

FILE_NAME = "index.html"
STYLE = Path(__file__).with_name("style.css")
LATE_WEIGHT = 20.0


def write(results: Sequence[ReplayResult], folder: Path | str, advice: str = "") -> Path:
    """Write `index.html` into `folder`, which is made if needed; the page's path. The first result leads.

    `advice` is shown under the headline, such as the floor that the trace warrants. Raises OSError, and
    ValueError without a result.
    """
    if not results:
        raise ValueError("a report needs at least one result")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    page = target / FILE_NAME
    page.write_text(html(results, advice), encoding="utf-8")
    return page


def html(results: Sequence[ReplayResult], advice: str = "") -> str:
    """The whole page; nothing in it is loaded from elsewhere."""
    lead = results[0]
    title = f"{lead.trace} on {lead.model}"
    others = "".join(
        f"<details><summary>Timeline: {escape(result.policy)}</summary>{_timeline(result)}</details>"
        for result in results[1:]
        if result.timeline is not None
    )
    return document(
        f"Replay: {title}",
        f"<h1>{escape(title)}</h1>{_introduction(lead)}{_cards(lead)}"
        + (f"<p>{escape(advice)}</p>" if advice else "")
        + f"<h2>Policy: {escape(lead.policy)}</h2>{_timeline(lead)}"
        + f"<h2>Cost</h2>{_costs(results)}<h2>Figures</h2>{_table(results)}{others}",
    )


def document(title: str, body: str) -> str:
    """A page with the report's style; `body` is HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE.read_text(encoding='utf-8')}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def _introduction(result: ReplayResult) -> str:
    return (
        f'<p class="soft">{result.requests:,} requests in {_span(result.duration_seconds)}. A new replica takes'
        f" {result.lead_seconds:.0f} s. Node-hours count from launch to termination, warm and draining nodes"
        f" included, at {result.usd_per_node_hour:.4g} USD on demand. The bound knows the future.</p>"
    )


def _span(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"


def _cards(result: ReplayResult) -> str:
    cards = (
        (f"{result.node_seconds / 3600:,.1f}", "node-hours"),
        (f"${result.usd:,.2f}", "on demand"),
        (f"{result.bound_ratio:.2f}x", "of the clairvoyant bound"),
        (f"{result.violation_share:.3%}", "of the time in violation"),
        (f"{result.peak_replicas}", "replicas at most"),
    )
    body = "".join(f'<div class="card"><b>{value}</b><span>{words}</span></div>' for value, words in cards)
    return f'<div class="cards">{body}</div>'


def _timeline(result: ReplayResult) -> str:
    line = result.timeline
    if line is None or not line.moments:
        return '<p class="soft">This policy has no timeline: it is a bound, or the trace ends before its first look.</p>'
    shaded = bands(line.moments, line.violating)
    replicas = plot(
        "Demand, replicas and nodes",
        line.moments,
        result.duration_seconds,
        (
            Line("demand at full use", "demand", line.demand, stepped=False),
            Line("headroom and forecast", "forecast", line.planned, stepped=False),
            Line("desired", "desired", line.desired),
            Line("ready", "ready", line.ready),
            Line("nodes", "nodes", line.nodes),
        ),
        shaded,
    )
    queue = plot(
        "Waiting requests",
        line.moments,
        result.duration_seconds,
        (Line("waiting", "queue", line.waiting, stepped=False),),
        shaded,
    )
    return replicas + queue


def _costs(results: Sequence[ReplayResult]) -> str:
    rows: list[tuple[str, Sequence[tuple[str, float, str]]]] = []
    bound = results[0].bound_node_seconds / 3600
    for result in results:
        late = LATE_WEIGHT * result.violation_seconds / 3600
        hours = result.node_seconds / 3600
        rows.append(
            (
                result.policy,
                (("cost", hours, f"{hours:,.1f} node-hours"), ("late", late, f"{late:,.1f} for violations")),
            )
        )
    if all(result.policy != "clairvoyant" for result in results):
        rows.append(("clairvoyant bound", (("bound", bound, f"{bound:,.1f} node-hours"),)))
    return bars("Node-hours, and 20 for each hour in violation", rows)


def _table(results: Sequence[ReplayResult]) -> str:
    head = ("policy", "node-hours", "USD", "of bound", "in violation", "peak", "reversals/h")
    rows = [
        (
            result.policy,
            f"{result.node_seconds / 3600:,.1f}",
            f"{result.usd:,.2f}",
            f"{result.bound_ratio:.3f}",
            f"{result.violation_share:.3%}",
            str(result.peak_replicas),
            f"{result.as_json()['reversalsPerHour']:.2f}",
        )
        for result in results
    ]
    header = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'
