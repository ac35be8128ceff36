"""A progress bar for a push."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class ProgressBar:
    """Call it as `push`'s progress; a context manager. Bytes found in the bucket fill the bar at once."""

    def __init__(self, console: Console, total: int, title: str = "Weights") -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # a bar in a log is a line of nothing
        )
        self._title, self._kept = title, 0
        self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __call__(self, path: str, count: int, sent: bool) -> None:
        """Rich's progress is safe to use from several threads."""
        if not sent:
            self._kept += count
        note = f", {self._kept / 2**30:.1f} GiB were there" if self._kept else ""
        self._bar.update(self._task, advance=count, description=f"{self._title}: {path}{note}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
