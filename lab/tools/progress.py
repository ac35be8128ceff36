"""What a person sees while tools are built."""

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table


class Progress(Protocol):
    """Told of each step of ``ensure``. All times are seconds."""

    def begin(self, tool: str, estimate: float) -> None:
        """A build starts."""
        ...

    def tick(self, tool: str, elapsed: float) -> None:
        """A build goes on; called about four times a second."""
        ...

    def waiting(self, tool: str, holder: str) -> None:
        """Another process (its pid) builds the tool; called twice a second."""
        ...

    def done(self, tool: str, seconds: float) -> None:
        """A build ended well."""
        ...


class Silent:
    """Shows nothing."""

    def begin(self, tool: str, estimate: float) -> None:
        """Nothing."""

    def tick(self, tool: str, elapsed: float) -> None:
        """Nothing."""

    def waiting(self, tool: str, holder: str) -> None:
        """Nothing."""

    def done(self, tool: str, seconds: float) -> None:
        """Nothing."""


def span(seconds: float) -> str:
    """A duration for people: "45 s", "6 min 25 s"."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


class Lines:
    """One line to standard error as each build starts and ends: for logs and pipes."""

    def __init__(self) -> None:
        self._waited: set[str] = set()

    def begin(self, tool: str, estimate: float) -> None:
        """Says what is built and how long it should take."""
        self._say(f"building {tool} (about {span(estimate)})")

    def tick(self, tool: str, elapsed: float) -> None:
        """Nothing: a log needs no ticking."""

    def waiting(self, tool: str, holder: str) -> None:
        """Says once that another process builds the tool."""
        if tool not in self._waited:
            self._waited.add(tool)
            self._say(f"waiting for {tool}: process {holder} is building it")

    def done(self, tool: str, seconds: float) -> None:
        """Says how long it took."""
        self._say(f"built {tool} in {span(seconds)}")

    @staticmethod
    def _say(text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Display:
    """A live table on the terminal: tool, state, elapsed, what is left. A context manager."""

    def __init__(self, names: list[str], console: Console | None = None) -> None:
        self._rows: dict[str, tuple[str, str, str]] = dict.fromkeys(names, ("waits its turn", "", ""))
        self._estimates: dict[str, float] = {}
        self._live = Live(
            console=console or Console(stderr=True), get_renderable=self._table, refresh_per_second=4
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def begin(self, tool: str, estimate: float) -> None:
        """Marks a build as started."""
        self._estimates[tool] = estimate
        self.tick(tool, 0.0)

    def tick(self, tool: str, elapsed: float) -> None:
        """Updates the elapsed and remaining time."""
        left = self._estimates[tool] - elapsed
        hint = f"about {span(left)} left" if left > 5 else "any moment" if left > -60 else "longer than usual"
        mark = "|/-\\"[int(time.monotonic() * 4) % 4]
        self._rows[tool] = (f"{mark} building", span(elapsed), hint)

    def waiting(self, tool: str, holder: str) -> None:
        """Marks the tool as being built by another process."""
        self._rows[tool] = (f"process {holder} builds it", "", "")

    def done(self, tool: str, seconds: float) -> None:
        """Marks a build as done."""
        self._rows[tool] = ("built", span(seconds), "")

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for title in ("tool", "state", "elapsed", ""):
            table.add_column(title)
        for name, row in self._rows.items():
            table.add_row(name, *row)
        return table
