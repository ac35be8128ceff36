"""Plots as inline SVG that stretches with the page; labels are HTML, so that they stay readable on a phone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 1000.0, 240.0
MOST_POINTS = 700
TICKS = 4


@dataclass(frozen=True)
class Line:
    """One series: its legend, its CSS class and its values at the plot's moments."""

    label: str
    style: str
    values: Sequence[float | None]
    stepped: bool = True
    """A count that holds until it changes, not a slope."""


@dataclass(frozen=True)
class Span:
    """A named stretch of time, shaded behind the lines in one of two tones."""

    label: str
    start: float
    end: float


def bands(moments: Sequence[float], cumulative: Sequence[float]) -> list[tuple[float, float]]:
    """Spans of time in which a cumulative figure grew."""
    found: list[tuple[float, float]] = []
    for position in range(1, len(moments)):
        if cumulative[position] > cumulative[position - 1] + 1e-9:
            start = moments[position - 1]
            if found and found[-1][1] >= start:
                found[-1] = (found[-1][0], moments[position])
            else:
                found.append((start, moments[position]))
    return found


def thinned(moments: Sequence[float], values: Sequence[float | None]) -> list[tuple[float, float]]:
    """At most MOST_POINTS points; each stands for a stretch by its largest value, so that peaks stay."""
    size = max(1, -(-len(moments) // MOST_POINTS))
    points: list[tuple[float, float]] = []
    for start in range(0, len(moments), size):
        known = [
            value for value in values[start : start + size] if value is not None and math.isfinite(value)
        ]
        if known:
            points.append((moments[start], max(known)))
    return points


def nice_top(value: float) -> float:
    """The next round number at or above `value`, for the end of an axis."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    for step in (1, 2, 4, 5, 8, 10):
        if value <= step * power * (1 + 1e-9):
            return step * power
    return 10 * power


def clock(seconds: float) -> str:
    """A moment of the trace in days, hours and minutes."""
    minutes = round(seconds / 60)
    days, minutes = divmod(minutes, 1440)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    return f"day {days} {text}" if days else text


def plot(
    title: str,
    moments: Sequence[float],
    end: float,
    lines: Sequence[Line],
    shaded: Sequence[tuple[float, float]] = (),
    *,
    spans: Sequence[Span] = (),
    axis: Callable[[float], str] = clock,
) -> str:
    """A figure with a legend, axes from 0 to `end` seconds and a line per series. Values are drawn from 0.

    `shaded` are violations, `spans` named stretches; `axis` writes a moment below the plot.
    """
    drawn = [(line, thinned(moments, line.values)) for line in lines]
    top = nice_top(max((value for _, points in drawn for _, value in points), default=1.0))
    parts = [
        f'<rect class="span tone{position % 2}" x="{span.start / end * WIDTH:.1f}" y="0"'
        f' width="{(span.end - span.start) / end * WIDTH:.1f}" height="{HEIGHT:g}"/>'
        for position, span in enumerate(spans)
    ]
    parts += [
        f'<rect class="violation" x="{start / end * WIDTH:.1f}" y="0"'
        f' width="{max((finish - start) / end * WIDTH, 0.8):.1f}" height="{HEIGHT:g}"/>'
        for start, finish in shaded
    ]
    parts += [
        f'<line class="grid" x1="0" x2="{WIDTH:g}" y1="{HEIGHT * tick / TICKS:g}" y2="{HEIGHT * tick / TICKS:g}"/>'
        for tick in range(TICKS + 1)
    ]
    parts += [
        f'<path class="{line.style}" d="{_path(points, end, top, line.stepped)}"/>' for line, points in drawn
    ]
    vertical = "".join(f"<span>{top * (TICKS - tick) / TICKS:g}</span>" for tick in range(TICKS + 1))
    horizontal = "".join(f"<span>{escape(axis(end * tick / TICKS))}</span>" for tick in range(TICKS + 1))
    legend = "".join(f'<li class="{line.style}">{escape(line.label)}</li>' for line in lines)
    if shaded:
        legend += '<li class="violation">SLO violated</li>'
    names = "".join(
        f'<span style="left:{span.start / end * 100:.2f}%;width:{(span.end - span.start) / end * 100:.2f}%">'
        f"{escape(span.label)}</span>"
        for span in spans
    )
    strip = f'<div class="spans">{names}</div>' if names else ""
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><ul class="legend">{legend}</ul>'
        f'<div class="plot">{strip}<div class="y">{vertical}</div>'
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(title)}">{"".join(parts)}</svg><div class="x">{horizontal}</div></div></figure>'
    )


def _path(points: Sequence[tuple[float, float]], end: float, top: float, stepped: bool) -> str:
    pieces: list[str] = []
    for moment, value in points:
        x, y = moment / end * WIDTH, HEIGHT * (1 - min(value, top) / top)
        if not pieces:
            pieces.append(f"M{x:.1f} {y:.1f}")
        elif stepped:
            pieces.append(f"H{x:.1f}V{y:.1f}")
        else:
            pieces.append(f"L{x:.1f} {y:.1f}")
    return "".join(pieces)


def bars(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float, str]]]]) -> str:
    """Horizontal bars; each row is a label and its parts (style, amount, words)."""
    top = max((sum(amount for _, amount, _ in parts) for _, parts in rows), default=1.0) or 1.0
    body: list[str] = []
    for label, parts in rows:
        pieces = "".join(
            f'<i class="{style}" style="width:{amount / top * 100:.2f}%" title="{escape(words)}"></i>'
            for style, amount, words in parts
            if amount > 0
        )
        words = ", ".join(words for _, amount, words in parts if amount > 0)
        body.append(
            f'<div class="bar"><b>{escape(label)}</b><span class="track">{pieces}</span>'
            f"<em>{escape(words)}</em></div>"
        )
    return f"<figure><figcaption>{escape(title)}</figcaption>{''.join(body)}</figure>"
