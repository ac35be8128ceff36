"""What callers of one engine get: bodies, streams, refusals."""

import asyncio
from dataclasses import replace

import aiohttp
import pytest

from lab.fleet import simulation
from lab.fleet.engine import Conduct
from lab.fleet.exposition import Exposition
from tests.unit.lab.fleet.engines import FAST, play, serving


def test_a_completion_has_the_tokens_asked_for_and_ends_by_length() -> None:
    async def scene() -> None:
        async with serving() as caller:
            status, body = await caller.ask(7)
            assert status == 200
            assert body["usage"] == {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57}
            assert body["choices"][0]["finish_reason"] == "length"
            assert body["choices"][0]["text"].split() == ["token"] * 7

    play(scene())


def test_a_chat_without_a_limit_ends_by_itself() -> None:
    async def scene() -> None:
        async with serving(model=replace(FAST, step=0.001)) as caller:
            body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
            async with caller.session.post(caller.url + "/v1/chat/completions", json=body) as response:
                choice = (await response.json())["choices"][0]
            assert choice["finish_reason"] == "stop"
            assert choice["message"]["role"] == "assistant"

    play(scene())


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_a_stream_gives_every_token_then_the_reason_then_done(path: str) -> None:
    async def scene() -> None:
        async with serving() as caller:
            messages = [{"role": "user", "content": "hello"}]
            *chunks, done = await caller.stream(40, path, messages=messages)
            choices = [chunk["choices"][0] for chunk in chunks]
            text = "".join(
                choice["text"] if "text" in choice else choice["delta"]["content"] for choice in choices
            )
            assert text.split() == ["token"] * 40
            assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["length"]
            assert choices[-1]["finish_reason"] == "length"
            assert len(choices) > 3
            assert done == "[DONE]"

    play(scene())


def test_a_stream_that_asks_for_usage_ends_with_it() -> None:
    async def scene() -> None:
        async with serving() as caller:
            events = await caller.stream(3, stream_options={"include_usage": True})
            assert events[-2]["usage"]["completion_tokens"] == 3

    play(scene())


def _refusal(body: dict[str, object], status: int, said: str) -> None:
    async def scene() -> None:
        async with serving(max_model_len=100) as caller:
            async with caller.session.post(caller.url + "/v1/completions", json=body) as response:
                assert response.status == status
                error = (await response.json())["error"]
            assert error["code"] == status
            assert said in error["message"]

    play(scene())


def test_another_model_is_not_found() -> None:
    _refusal({"model": "other", "prompt": "x"}, 404, "The model `other` does not exist.")


def test_more_than_the_context_is_refused() -> None:
    _refusal({"prompt": "x", "max_tokens": 100}, 400, "maximum context length is 100 tokens")


def test_a_body_without_a_prompt_is_refused() -> None:
    _refusal({"model": "m"}, 400, "prompt: Field required")


def test_a_bad_field_is_named() -> None:
    _refusal({"prompt": "x", "max_tokens": 0}, 400, "max_tokens")


def test_the_model_is_listed_by_its_served_name() -> None:
    async def scene() -> None:
        async with serving() as caller, caller.session.get(caller.url + "/v1/models") as response:
            assert [one["id"] for one in (await response.json())["data"]] == ["m"]

    play(scene())


def test_an_idle_connection_is_closed_after_the_keep_alive_time() -> None:
    async def scene() -> None:
        async with serving(keep_alive=0.05) as caller:
            port = int(caller.url.rsplit(":", 1)[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert b"keep-alive" not in head.lower()
            assert await reader.read() == b""
            writer.close()

    play(scene())


def test_the_port_is_closed_before_the_engine_is_ready() -> None:
    async def scene() -> None:
        async with serving(Conduct(start=60, exit=0, abort=0), wait=False) as caller:
            with pytest.raises(aiohttp.ClientConnectorError):
                await caller.get("/health")

    play(scene())


def test_a_full_queue_is_503_and_health_stays_200() -> None:
    async def scene() -> None:
        async with serving(max_num_queued_reqs=2) as caller:
            tasks = [asyncio.create_task(caller.ask(2000)) for _ in range(2)]
            await caller.loaded(2)
            await asyncio.sleep(0.05)
            status, body = await caller.ask(5, stream=True)
            assert status == 503
            assert body["error"]["type"] == "Service Unavailable"
            assert (await caller.get("/health"))[0] == 200
            rejected = 'vllm:admission_rejections_total{model_name="m",reason="max_num_queued_reqs"}'
            assert await caller.metric(rejected) == 1
            for task in tasks:
                task.cancel()

    play(scene())


def test_a_stream_refused_in_a_burst_has_had_its_200(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "STALE_SECONDS", 60.0)

    async def scene() -> None:
        async with serving(max_num_queued_reqs=1) as caller:
            results = await asyncio.gather(*(caller.stream(50) for _ in range(4)))
            errors = [events for events in results if "error" in events[0]]
            assert len(errors) == 3
            assert errors[0][0]["error"]["code"] == 503
            assert errors[0][-1] == "[DONE]"

    play(scene())


def test_a_request_that_can_never_fit_the_cache_is_refused() -> None:
    async def scene() -> None:
        async with serving(max_model_len=FAST.kv_tokens * 2) as caller:
            assert (await caller.ask(FAST.kv_tokens))[0] == 400

    play(scene())


@pytest.mark.parametrize(("asked", "begins"), [({"X-Request-Id": "mine-7"}, "cmpl-mine-7"), ({}, "cmpl-")])
def test_an_answer_has_the_id_of_its_request(asked: dict[str, str], begins: str) -> None:
    async def scene() -> None:
        async with serving() as caller:
            body = {"model": "m", "prompt": "x", "max_tokens": 1}
            async with caller.session.post(
                caller.url + "/v1/completions", json=body, headers=asked
            ) as response:
                said = (await response.json())["id"]
        assert said == begins if asked else len(said) > len(begins)

    play(scene())


def test_tokens_that_nobody_reads_along_are_not_handed_out_one_by_one() -> None:
    async def scene() -> None:
        metrics = Exposition("m", 8192, FAST.kv_tokens)
        engine = simulation.Simulation(FAST, metrics, None)
        pieces: dict[bool, int] = {}
        for streamed in (True, False):
            ticket = engine.submit(10, 100, "length", streamed=streamed)
            made = [one.tokens async for one in engine.outputs(ticket)]
            assert sum(made) == 100
            pieces[streamed] = len(made)
        assert pieces[False] * 3 < pieces[True], pieces

    play(scene())


def test_a_stream_that_joins_whole_answers_is_read_at_once() -> None:
    async def scene() -> None:
        slow = replace(FAST, step=0.01)
        engine = simulation.Simulation(slow, Exposition("m", 8192, slow.kv_tokens), None)
        whole = engine.submit(10, 1000, "length", streamed=False)
        await asyncio.sleep(0.02)
        ticket = engine.submit(10, 10, "length")
        made = [one.tokens async for one in engine.outputs(ticket)]
        assert len(made) > 4, made
        engine.abandon(whole)

    play(scene())
