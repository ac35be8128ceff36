"""The engine that meets a calibration: at the stated rate its p95 time to first token is the SLO."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from planner.batching import Engine
from planner.engine import EngineModel, physical_model, request_size
from specs.catalogue import InstanceType
from specs.settings.model import Model
from specs.settings.stack import Settings

PROMPT_SPREAD = 0.8
OUTPUT_SPREAD = 0.7
"""Sigma of log-normal request sizes: the spread of the public Azure conversation trace of 2023."""
LARGEST = 6.0
"""No drawn size exceeds this many means."""
ARRIVALS = 1500
SEED = 20250609
ROUNDS = 9
FASTEST = 6.0
"""No engine is made more than this much faster than its plain throughput asks for."""
PERCENTILE = 0.95


def engine_model(settings: Settings, model: Model, instance: InstanceType | None = None) -> EngineModel:
    """The model of one replica: as fast as it must be to serve the calibrated rate with its p95 time to first
    token at `slo.ttftSeconds`; from data sheets alone where no capacity is stated.
    """
    raw = physical_model(settings, model, instance)
    if model.capacity is None:
        return raw
    prompt, output = request_size(model)
    return _fitted(raw, prompt, output, model.capacity.requests_per_second, model.slo.ttft_seconds)


@lru_cache(maxsize=256)
def _fitted(raw: EngineModel, prompt: float, output: float, rate: float, slo: float) -> EngineModel:
    plain = rate / raw.curve(prompt, output).capacity
    low, high = plain, plain * FASTEST
    if first_token_p95(raw.scaled(low), prompt, output, rate) <= slo:
        return raw.scaled(low)
    for _ in range(ROUNDS):
        middle = (low * high) ** 0.5
        if first_token_p95(raw.scaled(middle), prompt, output, rate) <= slo:
            high = middle
        else:
            low = middle
    return raw.scaled(high)


def first_token_p95(model: EngineModel, prompt: float, output: float, rate: float) -> float:
    """Seconds to the first token, 95th percentile, of requests of varied size that arrive at random."""
    source = random.Random(SEED)  # noqa: S311 - load, no secret
    engine, moment = Engine(model), 0.0
    arrived: list[float] = []
    first: list[float] = []
    for number in range(ARRIVALS):
        moment += source.expovariate(rate)
        arrived.append(moment)
        sizes = (_size(source, prompt, PROMPT_SPREAD), _size(source, output, OUTPUT_SPREAD))
        for event in engine.add(number, *sizes, moment):
            if event.kind == "first_token":
                first.append(event.moment - arrived[event.request])
    while engine.next_event != float("inf"):
        for event in engine.advance(engine.next_event):
            if event.kind == "first_token":
                first.append(event.moment - arrived[event.request])
    first.sort()
    return first[int(PERCENTILE * (len(first) - 1))]


def _size(source: random.Random, mean: float, spread: float) -> int:
    drawn = source.lognormvariate(math.log(mean) - spread**2 / 2, spread)
    return max(1, round(min(drawn, mean * LARGEST)))
