"""A trace by what the user wrote: a file, or one made on the spot."""

from __future__ import annotations

from pathlib import Path

from planner.generator import PREFIX, from_text
from planner.trace_files import read
from planner.traces import Trace


def open_trace(text: str, seed: int = 0) -> Trace:
    """The trace at a path, or `generate:KIND[:DAYS[:RPS]]`. Raises TraceError."""
    return from_text(text, seed) if text.startswith(PREFIX) else read(Path(text))
