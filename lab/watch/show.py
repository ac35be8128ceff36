"""Draws a running watch on the terminal, or tells it line by line where there is none."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from lab.watch import words
from lab.watch.spark import BLOCKS, PLAIN
from lab.watch.view import view
from lab.watch.watcher import Watcher

DRAW_SECONDS = 0.5
LINE_SECONDS = 10.0
STEP_SECONDS = 0.1
"""How often `until` is asked."""

Until = Callable[[], bool]
Extra = Callable[[], Sequence[Text]]
"""Lines of the caller's own, such as the state of a load."""


def nothing() -> Sequence[Text]:
    """No lines."""
    return ()


def show(
    watcher: Watcher,
    console: Console,
    until: Until,
    *,
    title: str,
    extra: Extra = nothing,
    screen: bool = False,
) -> None:
    """Shows the watch until `until` is True; the last picture stays. `screen` takes the whole terminal meanwhile.

    Raises what ended the watcher before its time.
    """
    if console.is_terminal and not console.is_dumb_terminal:
        _draw(watcher, console, until, title, extra, screen)
    else:
        _tell(watcher, console, until, extra)


def picture(watcher: Watcher, console: Console, title: str, extra: Extra = nothing) -> RenderableType:
    """The view as it is now, in the size of the console."""
    levels = BLOCKS if console.encoding.lower().startswith("utf") else PLAIN
    with watcher.lock:
        return view(
            watcher.history,
            title=title,
            now=time.time(),
            width=console.width,
            height=console.height,
            levels=levels,
            extra=extra(),
        )


def _draw(watcher: Watcher, console: Console, until: Until, title: str, extra: Extra, screen: bool) -> None:
    # Leaving the screen brings back what stood there before: the last picture is printed after it.
    try:
        with Live(console=console, screen=screen, auto_refresh=False, vertical_overflow="crop") as live:
            due = 0.0
            while not until():
                _check(watcher)
                if time.monotonic() >= due:
                    live.update(picture(watcher, console, title, extra), refresh=True)
                    due = time.monotonic() + DRAW_SECONDS
                time.sleep(STEP_SECONDS)
    finally:
        if screen:
            console.print(picture(watcher, console, title, extra))


def _tell(watcher: Watcher, console: Console, until: Until, extra: Extra) -> None:
    told_event = told_sample = 0.0
    while not until():
        _check(watcher)
        with watcher.lock:
            events = [event for event in watcher.history.events if event.at > told_event]
            sample = watcher.history.last
            line = words.one_line(watcher.history, sample) if sample else ""
        for event in events:
            console.print(f"{words.wall_clock(event.at)} {event.text}", markup=False)
            told_event = event.at
        if sample is not None and sample.at - told_sample >= LINE_SECONDS:
            console.print(line, *extra(), sep="\n", markup=False)
            told_sample = sample.at
        time.sleep(STEP_SECONDS)
    with watcher.lock:
        last = watcher.history.last
        if last is not None and last.at > told_sample:
            console.print(words.one_line(watcher.history, last), markup=False)


def _check(watcher: Watcher) -> None:
    if watcher.failure is not None:
        raise watcher.failure
