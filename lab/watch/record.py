"""A run on disk: one JSON line a sample and one an event, written as they come."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from lab.watch.events import Event
from lab.watch.figures import Figures, Sample

SAMPLES, EVENTS = "samples.jsonl", "events.jsonl"
Line = TypeVar("Line", bound=Figures)


class RecordError(Exception):
    """A record can't be read; the text is for the user and complete in itself."""


class Recorder:
    """Appends to the two files of a folder, which is made if needed. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._samples = (folder / SAMPLES).open("a", encoding="utf-8")
        self._events = (folder / EVENTS).open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def sample(self, sample: Sample) -> None:
        """Writes a sample; it is on disk when this returns."""
        self._samples.write(sample.model_dump_json(by_alias=True) + "\n")
        self._samples.flush()

    def event(self, event: Event) -> None:
        """Writes an event."""
        self._events.write(event.model_dump_json(by_alias=True) + "\n")
        self._events.flush()

    def close(self) -> None:
        """Closes the files."""
        self._samples.close()
        self._events.close()


def document(sample: Sample, events: Sequence[Event]) -> dict[str, Any]:
    """A sample with what happened since the one before, as a line of `headroom watch --json`."""
    found: dict[str, Any] = sample.model_dump(by_alias=True, mode="json")
    found["usdPerHour"] = sample.usd_per_hour
    found["events"] = [event.model_dump(by_alias=True, mode="json") for event in events]
    return found


@dataclass(frozen=True)
class Recorded:
    """A run as it was recorded."""

    samples: Sequence[Sample]
    events: Sequence[Event]


def read(folder: Path) -> Recorded:
    """A recorded run; a last line that was cut short is left out. Raises RecordError."""
    return Recorded(_lines(folder / SAMPLES, Sample), _lines(folder / EVENTS, Event))


def _lines(path: Path, kind: type[Line]) -> list[Line]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path} can't be read: {error}. A run recorded there holds it.") from error
    whole = text.split("\n")[:-1]  # a line is whole once its end is written
    found: list[Line] = []
    for number, line in enumerate(whole, 1):
        try:
            found.append(kind.model_validate_json(line))
        except ValidationError as error:
            raise RecordError(
                f"{path}, line {number} is no {kind.__name__.lower()} of this version: {error.error_count()} "
                "problems. Record the run anew."
            ) from error
    return found
