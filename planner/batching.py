"""One engine in motion: requests in, first tokens and finished requests out, at simulated or real time."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Literal

from planner.engine import EngineModel

INFINITY = float("inf")
EventKind = Literal["first_token", "finished", "preempted"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a request at `moment` (seconds on the caller's clock)."""

    kind: EventKind
    request: int
    moment: float


class _Sequence:
    """A request inside the engine. `start` is the decode clock at which its token 1 was made."""

    __slots__ = ("done", "finish", "order", "output", "prompt", "request", "start")

    def __init__(self, request: int, prompt: int, output: int) -> None:
        self.request = request
        self.prompt = prompt
        self.output = output
        self.done = 0.0
        """Tokens made before the last (re)start."""
        self.start = 0.0
        self.finish = 0.0
        self.order = 0


class TooLongError(ValueError):
    """A request that can never fit the KV cache."""


class Engine:
    """Continuous batching. Times are seconds on one clock that the caller moves forward."""

    __slots__ = (
        "_admitted",
        "_decode",
        "_heap",
        "_held",
        "_kv_base",
        "_kv_start",
        "_model",
        "_now",
        "_order",
        "_prefill",
        "_prefill_end",
        "_prefill_steps",
        "_prefill_tokens",
        "_running",
        "_waiting",
        "generated_tokens",
        "load",
        "next_event",
        "preemptions",
        "prompt_tokens",
    )

    def __init__(self, model: EngineModel, moment: float = 0.0) -> None:
        self._model = model
        self._now = moment
        self._decode = 0.0
        self._order = 0
        self._waiting: deque[_Sequence] = deque()
        self._prefill: list[_Sequence] = []
        self._prefill_end = INFINITY
        self._prefill_steps = 0
        self._prefill_tokens = 0
        self._running: dict[int, _Sequence] = {}
        self._heap: list[tuple[float, int, _Sequence]] = []
        self._kv_base = 0.0
        """Sum of (context at start - start) of the running ones: their KV use is base + running x decode clock."""
        self._held: dict[int, _Sequence] = {}
        self.load = 0
        """Requests inside the engine."""
        self.preemptions = 0
        self.prompt_tokens = 0
        self.generated_tokens = 0
        self.next_event = INFINITY

    @property
    def running(self) -> int:
        """Requests in the batch, prefilling ones included (`vllm:num_requests_running`)."""
        return len(self._running) + len(self._prefill)

    @property
    def waiting(self) -> int:
        """Requests not admitted yet, preempted ones included (`vllm:num_requests_waiting`)."""
        return len(self._waiting)

    @property
    def kv_tokens(self) -> float:
        """Tokens in the KV cache."""
        return self._kv_base + len(self._running) * self._decode + self._prefill_tokens

    @property
    def kv_usage(self) -> float:
        """`vllm:kv_cache_usage_perc`, 0 to 1."""
        return min(1.0, self.kv_tokens / self._model.kv_tokens)

    def add(self, request: int, prompt: int, output: int, moment: float) -> list[Event]:
        """A request arrives. Raises TooLongError when its context exceeds the KV cache, ValueError for an id in
        use or a size below one.
        """
        if prompt < 1 or output < 1:
            raise ValueError(
                f"request {request}: {prompt} prompt and {output} output tokens; both are at least 1"
            )
        if prompt + output > self._model.kv_tokens:
            raise TooLongError(
                f"request {request}: {prompt + output} tokens; the KV cache holds {self._model.kv_tokens}"
            )
        if request in self._held:
            raise ValueError(f"request {request} is already in the engine")
        events = self.advance(moment)
        sequence = _Sequence(request, prompt, output)
        self._held[request] = sequence
        self.load += 1
        self._waiting.append(sequence)
        if self._prefill_end == INFINITY:
            self._admit()
            self._plan()
        return events

    def abort(self, request: int, moment: float) -> list[Event]:
        """The client hung up; the request leaves without an event. Unknown ids are ignored."""
        events = self.advance(moment)
        sequence = self._held.pop(request, None)
        if sequence is None:
            return events
        self.load -= 1
        if request in self._running:
            self._leave(sequence)
        elif sequence in self._waiting:
            self._waiting.remove(sequence)
        if self._prefill_end == INFINITY:
            self._admit()
        self._plan()
        return events

    def tokens(self, request: int) -> int:
        """Tokens the request has been given so far; 0 for an unknown one."""
        sequence = self._held.get(request)
        if sequence is None:
            return 0
        if request not in self._running:
            return int(sequence.done)
        made = sequence.done + 1 + self._decode - sequence.start
        return min(sequence.output, int(made + 1e-9))

    def advance(self, moment: float) -> list[Event]:
        """Let time pass up to `moment`; what happened, in order."""
        events: list[Event] = []
        while self.next_event <= moment:
            self._step(events)
        self._drift(moment)
        return events

    def _drift(self, moment: float) -> None:
        if moment > self._now:
            if self._running and self._prefill_end == INFINITY:
                self._decode += (moment - self._now) / self._seconds_per_token()
            self._now = moment

    def _seconds_per_token(self) -> float:
        return self._model.step + self._model.per_sequence * len(self._running)

    def _step(self, events: list[Event]) -> None:
        moment = self.next_event
        if self._prefill_end <= moment:
            self._decode += self._prefill_steps
            self._now = moment
            self._end_prefill(events)
        else:
            self._drift(moment)
        heap, limit = self._heap, self._decode + 1e-9
        while heap and heap[0][0] <= limit:
            sequence = heapq.heappop(heap)[2]
            if self._running.get(sequence.request) is sequence and sequence.finish <= limit:
                self._leave(sequence)
                del self._held[sequence.request]
                self.load -= 1
                self.generated_tokens += sequence.output
                events.append(Event("finished", sequence.request, moment))
        while self.kv_tokens > self._model.kv_tokens + 1e-6 and len(self._running) > 1:
            self._preempt(events, moment)
        if self._prefill_end == INFINITY:
            self._admit()
        self._plan()

    def _end_prefill(self, events: list[Event]) -> None:
        self._prefill_end = INFINITY
        for sequence in self._prefill:
            if self._held.get(sequence.request) is not sequence:
                continue
            first = sequence.done == 0
            context = sequence.prompt + sequence.done + 1
            sequence.start = self._decode
            sequence.finish = self._decode + sequence.output - sequence.done - 1
            self._running[sequence.request] = sequence
            self._kv_base += context - sequence.start
            heapq.heappush(self._heap, (sequence.finish, sequence.order, sequence))
            if first:
                self.prompt_tokens += sequence.prompt
                events.append(Event("first_token", sequence.request, self._now))
        self._prefill = []
        self._prefill_tokens = 0

    def _leave(self, sequence: _Sequence) -> None:
        del self._running[sequence.request]
        context = sequence.prompt + sequence.done + 1
        self._kv_base -= context - sequence.start
        if not self._running:
            self._kv_base = 0.0

    def _preempt(self, events: list[Event], moment: float) -> None:
        # vLLM gives up the request admitted last; it starts again from the front of the queue.
        sequence = max(self._running.values(), key=lambda found: found.order)
        self._leave(sequence)
        sequence.done = min(sequence.output - 1.0, sequence.done + 1 + self._decode - sequence.start)
        self._waiting.appendleft(sequence)
        self.preemptions += 1
        events.append(Event("preempted", sequence.request, moment))

    def _admit(self) -> None:
        """Start an iteration that prefills what fits."""
        waiting, model = self._waiting, self._model
        if not waiting:
            return
        room = model.max_sequences - len(self._running)
        if room <= 0:
            return
        free = model.kv_tokens - self._kv_base - len(self._running) * self._decode
        budget = model.batched_tokens - len(self._running)
        tokens = 0
        while waiting and room > 0 and tokens < budget:
            context = int(waiting[0].prompt + waiting[0].done)
            # Each running request needs room for its next token, else the newcomer would be preempted at once.
            if tokens + context + 1 > free - len(self._running):
                break
            sequence = waiting.popleft()
            self._order += 1
            sequence.order = self._order
            self._prefill.append(sequence)
            tokens += context
            room -= 1
        if self._prefill:
            self._prefill_tokens = tokens
            steps = max(1, -(-tokens // max(budget, 1)))
            self._prefill_steps = steps
            self._prefill_end = (
                self._now + steps * self._seconds_per_token() + tokens * model.per_prompt_token
            )

    def _plan(self) -> None:
        if self._prefill_end != INFINITY:
            self.next_event = self._prefill_end
            return
        heap = self._heap
        while heap and self._running.get(heap[0][2].request) is not heap[0][2]:
            heapq.heappop(heap)
        if not heap:
            self.next_event = INFINITY
            return
        count = len(self._running)
        until = heap[0][0]
        full = (self._model.kv_tokens - self._kv_base) / count
        if full < until and count > 1:
            # One token past the brim, so that the event makes progress.
            until = max(full + 1.0 / count, self._decode)
        self.next_event = self._now + max(0.0, until - self._decode) * self._seconds_per_token()
