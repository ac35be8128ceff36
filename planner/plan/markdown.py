"""A difference as Markdown, for a comment on a pull request."""

from __future__ import annotations

from planner.plan.difference import Change, Difference, amount, movement


def as_markdown(difference: Difference) -> str:
    """Two tables, settings and consequences; one sentence where nothing changes."""
    title = f"### Plan: {difference.before} → {difference.after}"
    if not difference.changes:
        return f"{title}\n\nNothing changes.\n"
    keys = [change for change in difference.changes if change.unit == "key"]
    figures = [change for change in difference.changes if change.unit != "key"]
    parts = [title]
    if figures:
        parts += ["", "| consequence | before | after | change |", "|---|---:|---:|---:|"]
        parts += [_row(change, movement(change)) for change in figures]
    else:
        parts += ["", "No consequence for seconds, caps, quotas or cost."]
    if keys:
        parts += ["", "| setting | before | after |", "|---|---|---|"]
        parts += [_row(change) for change in keys]
    return "\n".join(parts) + "\n"


def _row(change: Change, *more: str) -> str:
    cells = [f"`{change.item}`", amount(change, change.before), amount(change, change.after), *more]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
