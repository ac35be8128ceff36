"""One self-contained page about a run on the lab: what was asked, what the loop did, what it took and cost."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from lab.load import LoadResult
from lab.watch import charts, words
from lab.watch.events import Event
from lab.watch.figures import Sample
from lab.watch.history import told
from lab.watch.loads import Loads
from lab.watch.outcome import Outcome, named, outcome
from lab.watch.tables import advice, figures, requests, timings
from planner.report.page import FILE_NAME, document
from specs.settings.stack import Settings


def write(
    samples: Sequence[Sample],
    events: Sequence[Event],
    load_result: LoadResult | Sequence[LoadResult] | None,
    folder: Path,
    title: str,
    *,
    settings: Settings | None = None,
    factor: float = 1.0,
) -> Path:
    """Writes `index.html` into `folder`, which is made if needed; the page's path.

    Several loads are those that followed each other. The model is theirs, or the first whose replicas rose. With
    `settings` the predictions stand beside the figures; `factor` is the lab's on start-up seconds. Raises OSError,
    and ValueError without a sample.
    """
    if not samples:
        raise ValueError("a report needs at least one sample")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / FILE_NAME
    page.write_text(
        html(samples, events, load_result, title, settings=settings, factor=factor), encoding="utf-8"
    )
    return page


def html(
    samples: Sequence[Sample],
    events: Sequence[Event],
    load_result: LoadResult | Sequence[LoadResult] | None,
    title: str,
    *,
    settings: Settings | None = None,
    factor: float = 1.0,
) -> str:
    """The whole page; nothing in it is loaded from elsewhere."""
    loads = Loads.of(_sequence(load_result), events, samples[0].at)
    name = _model(samples, loads, settings)
    found = outcome(samples, events, name, settings, factor)
    model = named(settings, name)
    body = (
        f"<h1>{escape(title)}</h1>{_introduction(samples, loads, found)}{_cards(loads, found)}"
        f"<h2>Timeline of {escape(name)}</h2>"
        + charts.timeline(samples, events, loads, name, model)
        + f"<h2>The burst</h2>{timings(found, settings)}"
        + f"<h2>Figures</h2>{figures(found, loads, model)}"
        + (f"<h2>Requests</h2>{requests(loads, samples[0].at)}" if loads.results else "")
        + f"<h2>What to try next</h2>{advice(found, loads, settings, model)}"
        + _events(events, samples[0].at)
    )
    return document(f"Lab: {title}", body)


def _sequence(given: LoadResult | Sequence[LoadResult] | None) -> Sequence[LoadResult]:
    if given is None:
        return ()
    return (given,) if isinstance(given, LoadResult) else given


def _model(samples: Sequence[Sample], loads: Loads, settings: Settings | None) -> str:
    if loads.results:
        asked = loads.results[0].model
        model = named(settings, asked)
        return model.name if model else asked
    names = [model.name for model in samples[0].models]
    risen = (
        name
        for name in names
        if len({one.desired for sample in samples for one in sample.models if one.name == name} - {None}) > 1
    )
    return next(risen, names[0] if names else "")


def _introduction(samples: Sequence[Sample], loads: Loads, found: Outcome) -> str:
    sent = f"Load: {escape(loads.words)}. " if loads.results else ""
    speed = "" if found.factor == 1.0 else f", here at {found.factor:g} times their planned length"
    return (
        f'<p class="soft">{words.span(samples[-1].at - samples[0].at)} on the lab: real API server, autoscaler, '
        f"Karpenter, Prometheus and router; nodes and engines are simulated, with the plan's start-up stages{speed}. "
        f"{sent}Dollars are the GPU nodes' from launch to end, at the catalogue's prices.</p>"
    )


def _cards(loads: Loads, found: Outcome) -> str:
    ready = found.timing("ready")
    cards: list[tuple[str, str]] = []
    if loads.results:
        cards += [
            (f"{loads.completed:,}", f"of {loads.sent:,} requests completed"),
            (f"{loads.lost:,}", "lost"),
        ]
    if ready is not None and ready.measured is not None:
        cards.append((f"{ready.measured:.0f} s", f"from the burst to {found.reached} ready"))
    cards += [
        (f"{found.before} → {found.reached}", "replicas desired"),
        (words.usd(found.usd), f"for {found.gpu_hours:.2f} GPU-hours"),
    ]
    body = "".join(
        f'<div class="card"><b>{value}</b><span>{escape(label)}</span></div>' for value, label in cards
    )
    return f'<div class="cards">{body}</div>'


def _events(events: Sequence[Event], start: float) -> str:
    if not events:
        return ""
    shown = told(events)
    rows = "".join(
        f"<tr><td>{words.span(max(0.0, event.at - start))}</td><td>{escape(event.text)}</td></tr>"
        for event in shown
    )
    return (
        f"<details><summary>{words.counted(len(shown), 'event')}</summary>"
        f'<div class="scroll"><table class="words"><tbody>{rows}</tbody></table></div></details>'
    )
