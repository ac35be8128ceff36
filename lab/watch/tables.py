"""The tables of a run's page, and what to try next."""

from collections.abc import Sequence
from html import escape

from lab.load.causes import MEANINGS
from lab.watch import words
from lab.watch.loads import Loads
from lab.watch.outcome import CLAIMED, DECIDED, READY, Outcome
from planner.plan.machines import cheapest
from planner.plan.prices import first_choice, hourly
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import Tier, tiers

_STATUS = "an HTTP status other than 200"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], style: str = "") -> str:
    """A table that scrolls by itself on a narrow page; cells are text."""
    header = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    kind = f' class="{style}"' if style else ""
    return f'<div class="scroll"><table{kind}><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'


def timings(found: Outcome, settings: Settings | None) -> str:
    """Seconds of the burst beside the predicted ones, and what these are made of."""
    if not found.timings:
        return '<p class="soft">The desired replicas never rose: there was no burst.</p>'
    labels = {
        DECIDED: f"desired is {found.reached}",
        CLAIMED: "the last NodeClaim is created",
        READY: f"{found.reached} are ready",
    }
    rows = [
        (
            labels[one.label],
            _seconds(one.measured),
            _seconds(one.predicted),
            "-" if one.ratio is None else f"{one.ratio:.2f}",
            "-" if one.goal is None or one.predicted is None else f"≤ {one.goal}",
        )
        for one in found.timings
    ]
    shown = table(("from the burst until", "measured", "predicted", "ratio", "goal"), rows, "wraps")
    return shown + (_made_of(found.tier, found.factor, settings) if settings and found.tier else "")


def _made_of(tier: Tier, slowness: float, settings: Settings) -> str:
    stages = (("node", tier.node), ("image", tier.image), ("weights", tier.weights), ("engine", tier.engine))
    parts = [f"{name} {seconds * slowness:.1f}" for name, seconds in stages if seconds]
    factor = f", each {slowness:g} of the plan's" if slowness != 1 else ""
    scrape, sync = settings.platform.prometheus.scrape_seconds, settings.cluster.hpa_sync_seconds
    return (
        f'<p class="soft">Predicted from the {tier.name} tier: half a scrape {scrape / 2:g} s, half a sync '
        f"{sync / 2:g} s, controllers 1.5 s; then {', '.join(parts)} s{factor}. It is a mean: one burst may fall "
        "anywhere within a scrape and a sync. Samples are seconds apart, NodeClaims are dated by whole seconds.</p>"
    )


def figures(found: Outcome, loads: Loads, model: Model | None) -> str:
    """The run in numbers."""
    rows: list[tuple[str, str]] = []
    if loads.results:
        first = loads.first_token
        rows += [
            ("requests sent", f"{loads.sent:,}"),
            ("completed", f"{loads.completed:,}"),
            ("lost", f"{loads.lost:,}"),
        ]
        rows += [("given up at the end of the load", f"{loads.abandoned:,}")] if loads.abandoned else []
        rows += [("due and not sent", f"{loads.unsent:,}")] if loads.unsent else []
        rows += [
            (
                "time to first token, p50 / p95 / p99",
                " / ".join(map(_short, (first.p50, first.p95, first.p99))),
            ),
        ]
        if model is not None:
            slo = model.slo.ttft_seconds
            late = loads.violation_seconds(slo)
            share = late / loads.seconds if loads.seconds else 0.0
            rows.append((f"p95 time to first token above {slo:g} s", f"{late} s, {share:.0%} of the load"))
    rows += [
        ("most nodes at once", str(found.most_nodes)),
        ("GPU-hours", f"{found.gpu_hours:.3f}"),
        ("dollars", words.usd(found.usd)),
    ]
    return table(("figure", "value"), rows, "wraps")


def requests(loads: Loads, start: float) -> str:
    """The lost requests by cause; one line where there is none."""
    if loads.completed == loads.sent:
        return f"<p>Every one of {loads.sent:,} requests has its answer, whole and its own.</p>"
    if not loads.by_cause:
        return f"<p>No request was lost; {loads.abandoned:,} were given up with the load itself.</p>"
    rows = [(cause, f"{count:,}", MEANINGS.get(cause, _STATUS)) for cause, count in loads.by_cause.items()]
    shown = table(("lost by cause", "requests", "meaning"), rows, "words")
    samples = [
        (
            words.span(max(0.0, at - start)),
            f"{one.after:.1f} s",
            one.cause,
            one.target.removeprefix("http://"),
            one.detail[:80],
        )
        for at, one in loads.failures()
    ]
    return shown + table(("sent at", "lost after", "cause", "target", "detail"), samples, "words")


def advice(found: Outcome, loads: Loads, settings: Settings | None, model: Model | None) -> str:
    """What to change next, with what it should do by the plan's own arithmetic."""
    items: list[str] = []
    if loads.lost:
        items.append(f"{words.counted(loads.lost, 'request')} lost: the causes stand above.")
    if settings is not None and model is not None and found.tier is not None:
        items += _faster(settings, model, found.tier)
    items += [
        "See the loop while it runs: <code>headroom watch</code>.",
        "See what a change costs before it is made: <code>headroom plan --stack-file NEW --against OLD</code>.",
        "Replay days of traffic through the same configuration: <code>headroom replay --stack prod --trace "
        "generate:diurnal --report DIR</code>.",
    ]
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _faster(settings: Settings, model: Model, now: Tier) -> list[str]:
    _, snapshot, warm, ahead = tiers(settings, model)
    promised = model.slo.ready_seconds
    kept = "meets" if now.total <= promised else "misses"
    items = [
        f"On AWS a replica of this burst is ready {now.total:.0f} s after it by the plan ({escape(now.name)} tier), "
        f"which {kept} <code>slo.readySeconds</code> {promised:g}."
    ]
    if now.name == "cold":
        items.append(f"With the image already on the node's disk (a snapshot): {snapshot.total:.0f} s.")
        items.append(
            f"<code>scaling.warmSpares: 1</code>: {warm.total:.0f} s for the first replica, for about "
            f"{_spare(settings, model)} a day."
        )
    if model.scaling.forecast.enabled and now.total > promised:
        items.append(
            f"Where the forecast sees the load come, callers wait {ahead.total:.0f} s; a burst that nothing announces "
            "is met by a floor alone: <code>replicas.min</code>."
        )
    return items


def _spare(settings: Settings, model: Model) -> str:
    pool = settings.pool(model.pool)
    instance = cheapest(model, pool)
    return words.usd(None if instance is None else 24 * hourly(instance, first_choice(pool)))


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
