"""The bar of a push."""

from __future__ import annotations

import io

from rich.console import Console

from planner.staging.progress import ProgressBar


def test_off_a_terminal_the_bar_prints_nothing() -> None:
    out = io.StringIO()
    with ProgressBar(Console(file=out), 10) as bar:
        bar("config.json", 10, True)
    assert out.getvalue() == ""
