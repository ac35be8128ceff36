"""The engine model of the replay at the speed of the wall clock: requests in, tokens out as they are made."""

import asyncio
import math
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal

from lab.fleet.exposition import BLOCK, Exposition
from planner.batching import Engine, Event
from planner.engine import EngineModel

Reason = Literal["stop", "length", "abort"]
Rejection = Literal["early", "late"]

_SHORTEST_TICK = 0.005
_UNSEEN_TICK = 0.25
"""While nobody reads a stream, only a scrape sees tokens before their answer's end: a quarter of the shortest one."""
STALE_SECONDS = 0.03
"""How old the API server's view of its queue may be: a request shows in the gauges after 29 to 52 ms, and in a
burst streams pass the check for a full queue (vLLM 0.32.0)."""


class DrainingError(RuntimeError):
    """A request after SIGTERM; vLLM's own words."""

    def __init__(self) -> None:
        super().__init__("cannot schedule new futures after shutdown")


class FullError(RuntimeError):
    """A request beyond --max-num-queued-reqs. ``late``: only noticed after a stream had its status 200."""

    def __init__(self, when: Rejection) -> None:
        super().__init__(
            "The engine is currently busy and cannot accept new requests. "
            "Please try again later or on a different instance."
        )
        self.late = when == "late"


@dataclass(frozen=True, slots=True)
class Made:
    """Tokens made since the last one; ``reason`` comes with the last. Aborted in the queue: no tokens, no reason."""

    tokens: int
    reason: Reason | None = None
    last: bool = False


@dataclass(slots=True)
class Ticket:
    """A request in the engine. Moments are seconds on the loop's clock."""

    number: int
    prompt: int
    output: int
    ending: Reason
    arrived: float
    streamed: bool
    queue: asyncio.Queue[Made] = field(default_factory=asyncio.Queue[Made])
    first: float | None = None
    latest: float = 0.0
    given: int = 0
    preempted: int = 0


class Simulation:
    """One engine. Not thread-safe; lives in one event loop."""

    def __init__(self, model: EngineModel, metrics: Exposition, most_queued: int | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._model = model
        self._engine = Engine(model, self._loop.time())
        self._metrics = metrics
        self._most = most_queued
        self._tickets: dict[int, Ticket] = {}
        self._next = 0
        self._timer: asyncio.TimerHandle | None = None
        self._seen = (0.0, 0)
        self._prefilled = 0
        self._preempted = 0
        self._frozen = False
        self.draining = False
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def load(self) -> int:
        """Requests in the engine, running and waiting."""
        return self._engine.load

    def submit(self, prompt: int, output: int, ending: Reason, *, streamed: bool = True) -> Ticket:
        """A request arrives; ``streamed``: its caller sees each token as it is made.

        Raises DrainingError, FullError, and what Engine.add raises.
        """
        now = self._loop.time()
        if self.draining:
            raise DrainingError
        if self._most is not None:
            if self._visible(now) >= self._most:
                self._metrics.rejected("max_num_queued_reqs")
                raise FullError("early")
            if self.load >= self._most:
                self._metrics.rejected("max_num_queued_reqs")
                raise FullError("late")
        self._next += 1
        number = self._next
        events = self._engine.add(number, prompt, output, now)
        ticket = self._tickets[number] = Ticket(number, prompt, output, ending, now, streamed)
        self.idle.clear()
        self._publish(events)
        self._look_later()
        return ticket

    async def outputs(self, ticket: Ticket) -> AsyncGenerator[Made]:
        """What a request is given, up to its end. Left early, the request is aborted and counted nowhere."""
        try:
            while True:
                made = await ticket.queue.get()
                yield made
                if made.last:
                    return
        finally:
            self.abandon(ticket)

    def abandon(self, ticket: Ticket) -> None:
        """The client is gone; nothing happens when the request has ended."""
        if self._tickets.pop(ticket.number, None) is None:
            return
        if not self._frozen:
            self._publish(self._engine.abort(ticket.number, self._loop.time()))
            self._look_later()
        self._settle()

    def abort_all(self) -> None:
        """What SIGTERM without a drain does: what has begun ends with "abort", what waits without a word."""
        self.draining = True
        self.freeze()
        for ticket in self._tickets.values():
            ticket.queue.put_nowait(Made(0, "abort" if ticket.first is not None else None, last=True))
        self._tickets.clear()
        self._settle()

    def freeze(self) -> None:
        """No token is made any more; who waits for one hangs."""
        self._frozen = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_later(self) -> None:
        """Sets the timer of the next look, or brings it forward."""
        if self._frozen or not self._engine.load:
            return
        now = self._loop.time()
        moment = max(now + _SHORTEST_TICK, min(self._engine.next_event, now + self._tick))
        if self._timer is not None:
            if self._timer.when() <= moment:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        self._publish(self._engine.advance(now))
        self._hand_out(now)
        self._look_later()

    @property
    def _tick(self) -> float:
        """Seconds to the next look at the engine: a step of it where a caller reads along."""
        if not any(ticket.streamed for ticket in self._tickets.values()):
            return _UNSEEN_TICK
        return self._model.step + self._model.per_sequence * self._engine.running

    def _visible(self, now: float) -> int:
        moment, load = self._seen
        if now - moment >= STALE_SECONDS:
            load = self.load
            self._seen = (now, load)
        return load

    def _hand_out(self, now: float) -> None:
        most, total = 0, 0
        for ticket in self._tickets.values():
            if ticket.first is None:
                continue
            new = self._engine.tokens(ticket.number) - ticket.given
            if new > 0:
                self._give(ticket, new, now)
                most, total = max(most, new), total + new
        if most:
            self._metrics.observe("iteration_tokens_total", total / most, most)

    def _give(self, ticket: Ticket, tokens: int, now: float) -> None:
        ticket.given += tokens
        self._metrics.count("generation_tokens", tokens)
        self._metrics.observe("inter_token_latency_seconds", max(0.0, now - ticket.latest) / tokens, tokens)
        ticket.latest = now
        ticket.queue.put_nowait(Made(tokens))

    def _publish(self, events: list[Event]) -> None:
        for event in events:
            ticket = self._tickets.get(event.request)
            if ticket is None:
                continue
            if event.kind == "first_token":
                self._first(ticket, event.moment)
            elif event.kind == "preempted":
                ticket.preempted += 1
            else:
                self._finished(ticket, event.moment)
        engine, metrics = self._engine, self._metrics
        metrics.running.set(engine.running)
        metrics.waiting.set(engine.waiting)
        metrics.waiting_for_capacity.set(engine.waiting)
        blocks = self._model.kv_tokens // BLOCK
        metrics.kv_usage.set(min(1.0, math.ceil(engine.kv_tokens / BLOCK) / blocks) if blocks else 0.0)
        metrics.count("num_preemptions", engine.preemptions - self._preempted)
        self._preempted = engine.preemptions
        self._settle()

    def _settle(self) -> None:
        if not self._tickets:
            self.idle.set()

    def _first(self, ticket: Ticket, moment: float) -> None:
        ticket.first = ticket.latest = moment
        ticket.given = 1
        self._metrics.prefilled(ticket.prompt)
        self._metrics.count("generation_tokens")
        self._metrics.observe("time_to_first_token_seconds", moment - ticket.arrived)
        self._metrics.observe("iteration_tokens_total", ticket.prompt)
        ticket.queue.put_nowait(Made(1))

    def _finished(self, ticket: Ticket, moment: float) -> None:
        rest = ticket.output - ticket.given
        if rest:
            self._give(ticket, rest, max(moment, ticket.latest))
        ticket.queue.put_nowait(Made(0, ticket.ending, last=True))
        del self._tickets[ticket.number]
        metrics, first = self._metrics, ticket.first if ticket.first is not None else moment
        metrics.succeeded(ticket.ending)
        prefill = ticket.prompt * self._model.per_prompt_token + self._model.step
        queued = max(0.0, first - ticket.arrived - prefill)
        decode = moment - first
        metrics.observe("e2e_request_latency_seconds", moment - ticket.arrived)
        metrics.observe("request_queue_time_seconds", queued)
        metrics.observe("request_prefill_time_seconds", first - ticket.arrived - queued)
        metrics.observe("request_decode_time_seconds", decode)
        metrics.observe("request_inference_time_seconds", moment - ticket.arrived - queued)
        if ticket.output > 1:
            metrics.observe("request_time_per_output_token_seconds", decode / (ticket.output - 1))
        metrics.observe("request_prompt_tokens", ticket.prompt)
        metrics.observe("request_prefill_kv_computed_tokens", ticket.prompt)
        metrics.observe("request_generation_tokens", ticket.output)
        metrics.observe("request_max_num_generation_tokens", ticket.output)
        metrics.observe("request_params_max_tokens", ticket.output)
        metrics.observe("request_params_n", 1)
        metrics.observe("request_num_preemptions", ticket.preempted)
