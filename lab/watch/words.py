"""Figures as short words; a dash where a figure could not be had."""

from collections import Counter
from datetime import datetime

from lab.watch.figures import NodeSample, Sample
from lab.watch.history import History

UNKNOWN = "-"


def number(value: float | None, digits: int = 0) -> str:
    """`14.2`, or a dash."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def usd(value: float | None) -> str:
    """`$9.64`, or a dash."""
    return UNKNOWN if value is None else f"${value:,.2f}"


def wall_clock(at: float) -> str:
    """The time of day where the watcher sits."""
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S")


def span(seconds: float) -> str:
    """`1:05` in minutes and seconds, or with hours before."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def counted(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def node_groups(sample: Sample) -> list[tuple[tuple[str, str, str, str], list[NodeSample]]]:
    """The nodes by pool, type, capacity type and zone."""
    groups: dict[tuple[str, str, str, str], list[NodeSample]] = {}
    for pool in sample.pools:
        for node in pool.nodes or ():
            key = (pool.name, node.instance_type or "no type yet", node.capacity_type, node.zone)
            groups.setdefault(key, []).append(node)
    return sorted(groups.items())


def states(nodes: list[NodeSample]) -> str:
    """`4 ready, 5 launching`."""
    counts = Counter(node.state for node in nodes)
    return ", ".join(
        f"{counts[state]} {state}"
        for state in ("ready", "joined", "launching", "asked", "leaving")
        if counts[state]
    )


def away(history: History, now: float) -> list[str]:
    """A line for each source that gives nothing now."""
    names = {"prometheus": "Prometheus", "kubernetes": "the API server"}
    last = history.last
    found: list[str] = []
    for source, reason in sorted(last.problems.items()) if last else ():
        silent = history.silence(source, now)
        since = "" if silent is None else f" for {silent:.0f} s"
        found.append(f"no data from {names[source]}{since}: {reason}")
    return found


def one_line(history: History, sample: Sample) -> str:
    """All there is to say in one line, for where no terminal is."""
    parts = [
        f"{model.name} {number(model.rate, 1)} req/s, queue {number(model.waiting)}, "
        f"held {number(model.held)}, demand {number(model.demand, 1)}, forecast {number(model.forecast, 1)}, "
        f"desired {number(model.desired)}, ready {number(model.ready)}"
        for model in sample.models
    ]
    nodes = sample.nodes
    parts.append(
        f"{UNKNOWN if nodes is None else len(nodes)} nodes, {usd(sample.usd_per_hour)}/h, {usd(history.usd)} so far"
    )
    return f"{wall_clock(sample.at)} " + "; ".join([*parts, *away(history, sample.at)])
