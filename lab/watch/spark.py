"""A series as one line of characters, newest on the right."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-=+*%#"
"""For terminals that can't show blocks."""


def spark(
    moments: Sequence[float],
    values: Sequence[float | None],
    *,
    start: float,
    end: float,
    width: int,
    top: float,
    levels: str = BLOCKS,
) -> str:
    """`width` characters for the time from `start` to `end`; each shows the largest value of its stretch, and a
    stretch between two samples the earlier one. Blank where nothing is known; `top` is the highest level.
    """
    cells: list[float | None] = [None] * width
    if end <= start or width <= 0:
        return " " * width
    for position, (moment, value) in enumerate(zip(moments, values, strict=True)):
        if value is None or moment > end:
            continue
        until = moments[position + 1] if position + 1 < len(moments) else end
        if until < start:
            continue
        first = int((max(moment, start) - start) / (end - start) * width)
        last = int((min(until, end) - start) / (end - start) * width)
        for cell in range(min(first, width - 1), min(max(last, first + 1), width)):
            known = cells[cell]
            cells[cell] = value if known is None else max(known, value)
    return "".join(" " if cell is None else levels[_level(cell, top, len(levels))] for cell in cells)


def _level(value: float, top: float, levels: int) -> int:
    """The lowest level is for 0 alone: whatever is above it is seen."""
    if value <= 0 or top <= 0:
        return 0
    return max(1, min(levels - 1, round(value / top * (levels - 1))))
