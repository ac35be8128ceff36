"""Text from a configuration inside GitHub-flavoured Markdown, where it can neither format nor inject anything."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specs.problems import printable


def code(text: str, limit: int = 120) -> str:
    """`text` as one code span of at most `limit` characters, safe in a table cell too.

    Nothing is parsed inside a span: no HTML, link, image or mention. The fence is longer than any run of backticks in
    the text (https://github.github.com/gfm/#code-spans). A pipe would still end the cell: it gets a backslash, unless
    one escapes it already (https://github.github.com/gfm/#tables-extension-).
    """
    shown = printable(text, limit) or " "
    shown = re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", shown)
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    gap = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


def row(cells: Iterable[str]) -> str:
    """One row of a table; cells are our own words or what `code` made."""
    return f"| {' | '.join(cells)} |"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Lines of a table; a heading that starts with `>` is right-aligned."""
    names = list(head)
    lines = ["---:" if name.startswith(">") else "---" for name in names]
    return [row(name.removeprefix(">") for name in names), row(lines), *map(row, rows)]
