"""A running load on the terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from lab.load.ledger import Counts
from lab.load.profile import Profile
from lab.load.result import shown_seconds


def view(counts: Counts, profile: Profile) -> RenderableType:
    """Three lines: how far it is, what became of the requests, how long they wait."""
    first = counts.first_token
    ends = [f"of {profile.seconds:.0f} s"] if profile.seconds else []
    ends += [f"of {profile.requests} requests"] if profile.requests else []
    left = ", ".join(ends)
    lost = Text(f"lost {counts.lost}", style="bold red" if counts.lost else "green")
    for cause, count in counts.by_cause.items():
        lost.append(f"  {cause} {count}", style="red")
    return Group(
        Text(f"{counts.seconds:.0f} s {left}: {profile.words}; {len(counts.targets)} router(s) ready"),
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
