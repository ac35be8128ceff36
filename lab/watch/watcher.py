"""Samples a stack in the background for as long as something else goes on."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from lab.watch.events import Event, EventKind
from lab.watch.figures import Sample
from lab.watch.history import History
from lab.watch.record import Recorder
from lab.watch.sample import Sampler

EVERY_SECONDS = 2.0


class Watcher:
    """A thread that takes a sample every ``seconds`` into ``history``, and into the record if there is one.

    Hold ``lock`` while reading ``history``. Neither sampler nor recorder is closed by it.
    """

    def __init__(
        self,
        sampler: Sampler,
        *,
        seconds: float = EVERY_SECONDS,
        recorder: Recorder | None = None,
        on_sample: Callable[[Sample, list[Event]], None] | None = None,
    ) -> None:
        models = sampler.settings.active_models
        self.history = History({model.name: model.scaling.queue_threshold for model in models})
        self.lock = threading.RLock()
        self.failure: Exception | None = None
        self._sampler = sampler
        self._seconds = seconds
        self._recorder = recorder
        self._on_sample = on_sample
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        if self.failure is not None and error is None:
            raise self.failure

    def note(self, kind: EventKind, text: str, of: str = "", value: float | None = None) -> Event:
        """Adds an event of now, such as the begin of a phase."""
        event = Event(at=time.time(), kind=kind, text=text, of=of, value=value)
        with self.lock:
            self.history.note(event)
            if self._recorder is not None:
                self._recorder.event(event)
        return event

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                due = time.monotonic() + self._seconds
                self._look()
                self._ending.wait(max(0.0, due - time.monotonic()))
        except Exception as error:  # noqa: BLE001 - raised again where the watcher is left
            self.failure = error

    def _look(self) -> None:
        sample = self._sampler.sample()
        with self.lock:
            events = self.history.add(sample)
            if self._recorder is not None:
                self._recorder.sample(sample)
                for event in events:
                    self._recorder.event(event)
        if self._on_sample is not None:
            self._on_sample(sample, events)
