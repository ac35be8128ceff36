"""The look of the plan's tables."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table


def grid(title: str, *columns: str) -> Table:
    """A table with a rule under its head, narrow enough for terminals of 80 columns; the first column is words."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right", overflow="fold")
    return table
