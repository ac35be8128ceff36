"""The fleet request by request: one engine model in motion per replica behind a least-loaded router."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.batching import Engine, Event
from planner.engine import EngineModel
from planner.replay.fleet import Pod

INFINITY = float("inf")
WINDOW_SECONDS = 10
TAIL = 0.05
"""The p95 exceeds the SLO where more than this share of a window's requests do."""


class RequestServer:
    """Every request from the router to its last token. Sizes are clipped to what an engine can hold."""

    def __init__(
        self,
        model: EngineModel,
        slo_seconds: float,
        times: NDArray[np.float64],
        prompt: NDArray[np.int64],
        output: NDArray[np.int64],
        longest_drain: float,
    ) -> None:
        self._model = model
        self._slo = slo_seconds
        self._times: Sequence[float] = times.tolist()
        room = model.kv_tokens - 1
        self._prompt: Sequence[int] = np.clip(prompt, 1, room // 2).tolist()
        self._output: Sequence[int] = np.clip(output, 1, room // 2).tolist()
        self._first = [INFINITY] * len(times)
        self._longest_drain = longest_drain
        self._next = 0
        self._held: deque[int] = deque()
        self._ready: list[Engine] = []
        self._engines: dict[Pod, Engine] = {}
        self._heap: list[tuple[float, int, Engine]] = []
        self._pushed = 0
        self.finished = 0
        self.cut = 0
        """Requests still running when their replica's time to drain was over."""

    @property
    def ready(self) -> int:
        """Replicas that take requests."""
        return len(self._ready)

    @property
    def waiting(self) -> float:
        """Requests waiting in engines."""
        return float(sum(engine.waiting for engine in self._ready))

    @property
    def running(self) -> float:
        """Requests running in engines."""
        return float(sum(engine.running for engine in self._ready))

    @property
    def held(self) -> float:
        """Requests the router holds while no replica is ready."""
        return float(len(self._held))

    @property
    def kv_usage(self) -> float:
        """Mean KV-cache usage."""
        engines = self._ready
        return sum(engine.kv_usage for engine in engines) / len(engines) if engines else 0.0

    @property
    def gpu_utilisation(self) -> float:
        """Percent of time with at least one request running, for arrivals at random (DCGM counts any kernel)."""
        return 100.0 * (1.0 - math.exp(-self.running / len(self._ready))) if self._ready else 0.0

    @property
    def violation_seconds(self) -> float:
        """Seconds in which the p95 time to first token of the last ten seconds' arrivals broke the SLO."""
        return float(np.count_nonzero(self._violating()))

    @property
    def violation_so_far(self) -> float:
        """Not known yet: first tokens are judged when all have come (`violations_by`)."""
        return 0.0

    def violations_by(self, moments: Sequence[float]) -> list[float]:
        """Violation seconds up to each moment."""
        total = np.concatenate([[0], np.cumsum(self._violating())])
        return [float(total[min(int(moment), len(total) - 1)]) for moment in moments]

    def processed(self) -> float:
        """Requests sent to engines."""
        return float(self._next - len(self._held))

    def on_ready(self, pod: Pod, moment: float) -> None:
        """A replica begins to serve; what the router held goes out."""
        self.advance_to(moment)
        engine = Engine(self._model, moment)
        self._engines[pod] = engine
        self._ready.append(engine)
        while self._held:
            self._send(self._held.popleft(), moment)

    def on_leave(self, pod: Pod, moment: float) -> float:
        """A replica gets no more requests and finishes its own; the seconds until its last one ends."""
        engine = self._engines.pop(pod)
        self._ready.remove(engine)
        last = deadline = moment + self._longest_drain
        while engine.next_event <= deadline:
            last = engine.next_event
            self._note(engine.advance(last))
            if not engine.load:
                break
        if engine.load:
            self.cut += engine.load
            return self._longest_drain
        engine.next_event = INFINITY
        return max(0.0, last - moment) if last != deadline else 0.0

    def advance_to(self, moment: float) -> None:
        """Arrivals and engine events up to `moment`, in order of time."""
        heap, times, count = self._heap, self._times, len(self._times)
        while True:
            arrival = times[self._next] if self._next < count else INFINITY
            due = heap[0][0] if heap else INFINITY
            if due <= arrival:
                if due > moment:
                    return
                engine = heapq.heappop(heap)[2]
                # Entries of engines that were touched since are stale.
                if engine.next_event == due:
                    self._note(engine.advance(due))
                    self._push(engine)
            elif arrival > moment:
                return
            else:
                request = self._next
                self._next += 1
                if self._ready:
                    self._send(request, arrival)
                else:
                    self._held.append(request)

    def _send(self, request: int, moment: float) -> None:
        engine = min(self._ready, key=_load)
        events = engine.add(request, self._prompt[request], self._output[request], moment)
        if events:
            self._note(events)
        self._push(engine)

    def _push(self, engine: Engine) -> None:
        if engine.next_event != INFINITY:
            self._pushed += 1
            heapq.heappush(self._heap, (engine.next_event, self._pushed, engine))

    def _note(self, events: list[Event]) -> None:
        for event in events:
            if event.kind == "first_token":
                self._first[event.request] = event.moment
            elif event.kind == "finished":
                self.finished += 1

    def _violating(self) -> NDArray[np.bool_]:
        """For each second whether the last ten seconds' arrivals break the SLO."""
        times = np.asarray(self._times[: self._next])
        if not len(times):
            return np.zeros(0, dtype=np.bool_)
        late = np.asarray(self._first[: self._next]) - times > self._slo
        second = times.astype(np.int64)
        kernel = np.ones(WINDOW_SECONDS)
        every = np.convolve(np.bincount(second), kernel)
        bad = np.convolve(np.bincount(second, weights=late), kernel)
        return bad > TAIL * every + 1e-9


def _load(engine: Engine) -> int:
    return engine.load
