"""Load on an endpoint over real HTTP: what is sent, what is counted, what is refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import jsonschema
import pytest

from planner.calibrate import CalibrationError, from_load
from planner.calibrate.load import Generator, Load, Sent, summary
from planner.calibrate.result import Step
from planner.calibrate.search import Limits
from specs.settings import Settings, read
from tests.unit.planner.calibrate.server import Engine, serving

PROJECT = Path(__file__).resolve().parents[4]


def step(engine: Engine, rate: float = 40.0, **words: object) -> Step:
    """One step of half a second."""
    values = {
        "prompt_tokens": 50.0,
        "output_tokens": 4.0,
        "slo": 5.0,
        "step_seconds": 0.5,
        "least_requests": 1,
    }
    load = Load(engine.address, "chat", **(values | words))  # pyright: ignore[reportArgumentType] - fields by name

    async def run() -> Step:
        async with Generator(load) as generator:
            return await generator.step(rate)

    return asyncio.run(run())


def stack() -> Settings:
    model = {
        "name": "chat",
        "pool": "gpu",
        "model": "owner/chat",
        "weightsGiB": 15,
        "maxNumSeqs": 64,
        "capacity": {"requestsPerSecond": 1.0, "promptTokens": 60, "outputTokens": 3},
        "slo": {"ttftSeconds": 5},
    }
    return read(
        {
            "headroom:gpuPools": [{"name": "gpu", "families": ["g5"], "gpuLimit": 10}],
            "headroom:gpuBudget": {"maxGpus": 10},
            "headroom:models": [model],
        }
    )


def test_every_request_is_answered_and_its_tokens_are_counted() -> None:
    with serving(Engine()) as engine:
        found = step(engine)
    assert found.requests == len(engine.bodies) - 1
    assert found.failed == 0
    assert 10 < found.prompt_tokens < 200
    assert 1 <= found.output_tokens < 20
    assert found.ttft_p95 > 0


def test_requests_are_streamed_with_usage_and_without_early_ends() -> None:
    with serving(Engine()) as engine:
        step(engine)
    for body in engine.bodies:
        assert body["model"] == "chat"
        assert body["stream"] is True
        assert body["ignore_eos"] is True
        assert body["stream_options"] == {"include_usage": True}


def test_sizes_vary_about_their_means_and_prompts_share_no_prefix() -> None:
    """Prefix caching would make a repeated prompt free."""
    with serving(Engine()) as engine:
        step(engine)
    prompts = [str(body["prompt"]) for body in engine.bodies[1:]]
    assert len({len(prompt.split()) for prompt in prompts}) > 5
    assert len({prompt[:60] for prompt in prompts if len(prompt) >= 60}) == len(
        [p for p in prompts if len(p) >= 60]
    )


def test_words_are_scaled_by_what_the_tokenizer_makes_of_them() -> None:
    with serving(Engine(tokens_a_word=4)) as engine:
        found = step(engine)
    assert 20 < found.prompt_tokens < 110


def test_an_endpoint_with_v1_and_a_key_is_used_as_given() -> None:
    with serving(Engine()) as engine:
        engine.address += "/v1/"
        step(engine, key="secret")
    assert set(engine.paths) == {"/v1/completions"}
    assert set(engine.keys) == {"Bearer secret"}


def test_a_key_is_never_shown() -> None:
    load = Load("http://x", "chat", 1, 1, 1, key="secret")
    assert "secret" not in repr(load)


def test_an_error_inside_a_stream_counts_as_failed() -> None:
    """vLLM answers a burst with 200 and an error event."""
    with serving(Engine()) as engine:
        load = Load(engine.address, "chat", 50, 4, 5.0, step_seconds=0.3, least_requests=1)

        async def run() -> Step:
            async with Generator(load) as generator:
                engine.error_event = True
                return await generator.step(40)

        found = asyncio.run(run())
    assert found.failed == found.requests > 0
    assert not found.within


def test_more_in_flight_than_allowed_ends_the_step_as_missed() -> None:
    with serving(Engine(slots=1, seconds=0.3)) as engine:
        found = step(engine, rate=100, most_in_flight=5)
    assert not found.within
    assert found.requests <= 10


@pytest.mark.parametrize("status", [401, 404, 500])
def test_an_endpoint_that_refuses_is_told_before_any_load(status: int) -> None:
    with serving(Engine(status=status)) as engine, pytest.raises(CalibrationError) as refused:
        step(engine)
    assert str(status) in refused.value.problems[0].given
    assert len(engine.bodies) == 1


def test_nothing_at_the_address_is_told() -> None:
    with pytest.raises(CalibrationError) as refused:
        step(Engine(address="http://127.0.0.1:9"))
    assert "/v1/completions" in refused.value.problems[0].path


def test_a_whole_calibration_ends_with_a_capacity_and_its_steps() -> None:
    schema = json.loads((PROJECT / "docs/json/calibrate.schema.json").read_text(encoding="utf-8"))
    settings, steps = stack(), list[Step]()
    with serving(Engine(slots=64)) as engine:
        found = from_load(
            settings,
            settings.models[0],
            engine.address,
            step_seconds=0.3,
            least_requests=1,
            limits=Limits(start=10, most=20, steps=3),
            on_step=steps.append,
        )
    assert found.steps == tuple(steps)
    assert found.requests_per_second > 0
    jsonschema.validate(json.loads(json.dumps(found.as_json())), schema)


def test_a_calibration_out_of_time_says_at_least_what_it_saw() -> None:
    settings = stack()
    with serving(Engine(slots=64)) as engine:
        found = from_load(
            settings,
            settings.models[0],
            engine.address,
            step_seconds=0.3,
            least_requests=1,
            longest_seconds=0.4,
            limits=Limits(start=10, steps=40, precision=1e-9),
        )
    assert found.bound == "atLeast"


def test_every_impossible_wish_is_refused_at_once() -> None:
    settings = stack()
    with pytest.raises(CalibrationError) as refused:
        from_load(settings, settings.models[0], "localhost:8000", prompt_tokens=9000, step_seconds=-1)
    assert [problem.path for problem in refused.value.problems] == ["--endpoint", "tokens", "--step-seconds"]


def sent(count: int, wait: float, spacing: float = 0.1, failed: int = 0) -> list[Sent]:
    made = [
        Sent(
            at=number * spacing,
            first=number * spacing + wait,
            end=number * spacing + wait + 0.1,
            prompt=10,
            output=5,
        )
        for number in range(count)
    ]
    for one in made[:failed]:
        one.failed = True
    return made


def test_a_step_within_the_slo_is_good() -> None:
    assert summary(10, sent(100, 0.5), 0.0, 10.0, 2.0, overrun=False).within


def test_a_step_beyond_the_slo_is_not() -> None:
    assert not summary(10, sent(100, 2.5), 0.0, 10.0, 2.0, overrun=False).within


def test_one_failure_in_a_hundred_is_borne_and_two_are_not() -> None:
    assert summary(10, sent(100, 0.5, failed=1), 0.0, 10.0, 2.0, overrun=False).within
    assert not summary(10, sent(100, 0.5, failed=2), 0.0, 10.0, 2.0, overrun=False).within


def test_an_engine_that_falls_behind_is_not_good_even_within_the_slo() -> None:
    """Its queue grows: the wait has not come that far yet."""
    behind = sent(100, 1.5)
    for one in behind[40:]:
        one.end = 30.0
    assert not summary(10, behind, 0.0, 10.0, 2.0, overrun=False).within


def test_requests_without_a_token_count_as_endless_waits() -> None:
    silent = sent(100, 0.5)
    for one in silent[80:]:
        one.first = one.end = None
    found = summary(10, silent, 0.0, 10.0, 2.0, overrun=False)
    assert not found.within
    assert found.ttft_p95 == pytest.approx(10.0)


def test_a_step_without_a_request_is_not_good() -> None:
    assert not summary(10, [], 0.0, 1.0, 2.0, overrun=False).within


@pytest.mark.parametrize(
    "address", ["foo", "http://", "http://:80", "http://[::1", "http://h:99999", "http://h:0", "ftp://h"]
)
def test_an_address_that_no_engine_can_have_is_refused_before_anything_is_sent(address: str) -> None:
    settings = stack()
    with pytest.raises(CalibrationError) as refused:
        from_load(settings, settings.models[0], address)
    assert [problem.path for problem in refused.value.problems] == ["--endpoint"]
