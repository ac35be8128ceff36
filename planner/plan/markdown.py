"""A difference as Markdown, for a comment on a pull request."""

from __future__ import annotations

from planner.markdown import code, table
from planner.plan.difference import Change, Difference, amount, movement


def as_markdown(difference: Difference) -> str:
    """Two tables, settings and consequences; one sentence where nothing changes."""
    title = f"### Plan: {difference.before} → {difference.after}"
    if not difference.changes:
        return f"{title}\n\nNothing changes.\n"
    keys = [change for change in difference.changes if change.unit == "key"]
    figures = [change for change in difference.changes if change.unit != "key"]
    parts = [title, "", *consequences(figures)]
    if keys:
        parts += ["", *settings(keys)]
    return "\n".join(parts) + "\n"


def consequences(figures: list[Change]) -> list[str]:
    """Lines of the table of figures, or the sentence that there is none."""
    if not figures:
        return ["No consequence for seconds, caps, quotas or cost."]
    rows = [
        (code(change.item), amount(change, change.before), amount(change, change.after), movement(change))
        for change in figures
    ]
    return table(("consequence", ">before", ">after", ">change"), rows)


def settings(keys: list[Change]) -> list[str]:
    """Lines of the table of changed settings; values are the author's and only shown."""
    rows = [
        (code(change.item), _value(change, change.before), _value(change, change.after)) for change in keys
    ]
    return table(("setting", "before", "after"), rows)


def _value(change: Change, value: object) -> str:
    return "-" if value is None else code(amount(change, value))
