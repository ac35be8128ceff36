"""A running load on the terminal."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from lab.load.ledger import Counts
from lab.load.load import Load
from lab.load.profile import Profile
from lab.load.result import LoadResult, shown_seconds

_REFRESH_SECONDS: Final = 0.5


def watched(load: Load, console: Console) -> tuple[LoadResult, bool]:
    """Runs a load with its live view; nothing is shown where no person looks on.

    An interrupt gives up what is in flight. The result, and whether the load was interrupted.
    """
    load.start()
    interrupted = False
    live = Live(console=console, auto_refresh=False, transient=True)
    try:
        with live:
            while not load.finished:
                if console.is_terminal:
                    live.update(view(load.counts, load.profile), refresh=True)
                load.join(_REFRESH_SECONDS)
    except KeyboardInterrupt:
        interrupted = True
        load.stop(now=True)
    return load.wait(), interrupted


def view(counts: Counts, profile: Profile) -> RenderableType:
    """Three lines: how far it is, what became of the requests, how long they wait."""
    first = counts.first_token
    ends = [f" of {profile.seconds:.0f} s"] if profile.seconds else []
    ends += [f" of {profile.requests} requests"] if profile.requests else []
    lost = Text(f"lost {counts.lost}", style="bold red" if counts.lost else "green")
    for cause, count in counts.by_cause.items():
        lost.append(f"  {cause} {count}", style="red")
    ready = len(counts.targets)
    return Group(
        Text(
            f"{counts.seconds:.0f} s{','.join(ends)}: {profile.words}; "
            f"{ready} router{'s' if ready != 1 else ''} ready"
        ),
        Text.assemble(
            f"sent {counts.sent}  in flight {counts.in_flight}  completed {counts.completed}  ",
            lost,
            f"  unsent {counts.unsent}" if counts.unsent else "",
        ),
        Text(
            f"{counts.sent_rate:.1f} sent/s  {counts.completed_rate:.1f} completed/s  first token p50 "
            f"{shown_seconds(first.p50)}, p95 {shown_seconds(first.p95)} (last 10 s)"
        ),
    )
