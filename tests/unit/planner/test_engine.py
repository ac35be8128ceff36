"""The engine model: calibrated speed, batches, cache, order of events."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planner.batching import Engine, Event, TooLongError
from planner.calibrated import engine_model, first_token_p95
from planner.engine import EngineModel, planning_curve
from tests.unit.specs.stack import only, settings

MODEL = EngineModel(
    step=0.02,
    per_sequence=0.0002,
    per_prompt_token=0.0002,
    max_sequences=8,
    kv_tokens=20_000,
    batched_tokens=8192,
)


def finished(engine: Engine) -> list[Event]:
    events: list[Event] = []
    while engine.next_event != float("inf"):
        events += engine.advance(engine.next_event)
    return events


def test_the_planning_curve_serves_exactly_the_calibrated_rate() -> None:
    found = settings()
    assert planning_curve(found, only(found)).capacity == pytest.approx(1.65)


def test_the_calibrated_engine_meets_its_slo_at_the_calibrated_rate_and_not_far_above() -> None:
    found = settings()
    model = engine_model(found, only(found))
    assert first_token_p95(model, 1155, 211, 1.65) <= 2.0
    assert first_token_p95(model, 1155, 211, 1.65 * 1.2) > 2.0


def test_a_lone_request_takes_its_prefill_and_one_step_a_token() -> None:
    engine = Engine(MODEL)
    engine.add(1, 1000, 101, 0.0)
    first, last = finished(engine)
    assert (first.kind, last.kind) == ("first_token", "finished")
    assert first.moment == pytest.approx(0.02 + 1000 * 0.0002)
    assert last.moment - first.moment == pytest.approx(100 * 0.0202)


def test_throughput_at_the_batch_limit_is_the_curves_capacity() -> None:
    engine = Engine(replace(MODEL, kv_tokens=1_000_000))
    for number in range(400):
        engine.add(number, 500, 100, 0.0)
    span = finished(engine)[-1].moment
    assert 400 / span == pytest.approx(MODEL.curve(500, 100).capacity, rel=0.05)


def test_a_burst_shows_running_and_waiting_at_once() -> None:
    """40 requests at once with max-num-seqs 8 read running 8, waiting 32 (vLLM 0.32, first sample)."""
    engine = Engine(MODEL)
    for number in range(40):
        engine.add(number, 100, 200, 0.0)
    engine.advance(0.5)
    assert (engine.running, engine.waiting, engine.load) == (8, 32, 40)
    assert len([event for event in finished(engine) if event.kind == "finished"]) == 40
    assert (engine.running, engine.waiting, engine.kv_usage) == (0, 0, 0.0)


def test_running_never_exceeds_the_batch_limit() -> None:
    source, engine = random.Random(3), Engine(MODEL)  # noqa: S311 - traffic, no secret
    for number in range(300):
        engine.add(number, source.randint(1, 900), source.randint(1, 300), number * 0.1)
        assert engine.running <= 8


def test_a_full_cache_preempts_the_newest_and_counts_it_as_waiting() -> None:
    engine = Engine(replace(MODEL, kv_tokens=2000))
    for number in range(4):
        engine.add(number, 400, 400, 0.0)
    waiting_without_arrivals = 0
    preempted: list[int] = []
    while engine.next_event != float("inf"):
        for event in engine.advance(engine.next_event):
            if event.kind == "preempted":
                preempted.append(event.request)
                waiting_without_arrivals = max(waiting_without_arrivals, engine.waiting)
        assert engine.kv_tokens <= 2000 + 4
    assert preempted[0] == 3
    assert engine.preemptions == len(preempted) > 0
    assert waiting_without_arrivals >= 1
    assert engine.load == 0


def test_each_request_gets_one_first_token_and_one_end_in_order_of_time() -> None:
    source, engine = random.Random(9), Engine(replace(MODEL, kv_tokens=4000))  # noqa: S311 - as above
    events: list[Event] = []
    for number in range(200):
        events += engine.add(number, source.randint(1, 900), source.randint(1, 300), number * 0.3)
    events += finished(engine)
    assert [event.moment for event in events] == sorted(event.moment for event in events)
    for kind in ("first_token", "finished"):
        assert sorted(event.request for event in events if event.kind == kind) == list(range(200))


def test_tokens_grow_while_time_passes_and_end_at_the_output() -> None:
    engine = Engine(MODEL)
    engine.add(1, 100, 50, 0.0)
    seen: list[int] = []
    for tenth in range(1, 12):
        seen.append(engine.tokens(1))
        engine.advance(tenth * 0.1)
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= 50
    assert engine.tokens(99) == 0


def test_generated_and_prompt_tokens_are_counted() -> None:
    engine = Engine(MODEL)
    for number in range(5):
        engine.add(number, 100, 7, 0.0)
    finished(engine)
    assert (engine.prompt_tokens, engine.generated_tokens) == (500, 35)


def test_an_abort_frees_the_place_for_the_next() -> None:
    engine = Engine(replace(MODEL, max_sequences=1))
    engine.add(1, 100, 5000, 0.0)
    engine.add(2, 100, 5, 1.0)
    engine.abort(1, 2.0)
    assert engine.load == 1
    assert [event.request for event in finished(engine) if event.kind == "finished"] == [2]


def test_aborting_a_prompt_that_is_being_read_leaves_nothing_behind() -> None:
    engine = Engine(MODEL)
    engine.add(1, 4000, 10, 0.0)
    engine.abort(1, 0.1)
    assert finished(engine) == []
    assert (engine.load, engine.running, engine.kv_usage) == (0, 0, 0.0)


def test_a_request_that_can_never_fit_is_refused() -> None:
    with pytest.raises(TooLongError, match="the KV cache holds 20000"):
        Engine(MODEL).add(1, 19_000, 2000, 0.0)


@pytest.mark.parametrize(("prompt", "output"), [(0, 5), (5, 0)])
def test_a_size_below_one_is_refused(prompt: int, output: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Engine(MODEL).add(1, prompt, output, 0.0)


def test_an_id_in_use_is_refused() -> None:
    engine = Engine(MODEL)
    engine.add(1, 10, 10, 0.0)
    with pytest.raises(ValueError, match="already"):
        engine.add(1, 10, 10, 0.1)


def test_more_gpus_a_replica_prefill_faster_before_calibration() -> None:
    one = settings({"capacity": None, "scaling": {"strategy": "concurrency"}})
    model = engine_model(one, only(one))
    assert model.step > 0
    assert model.scaled(2.0).step == pytest.approx(model.step / 2)
