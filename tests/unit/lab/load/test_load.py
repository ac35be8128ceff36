"""A load from its first request to its books."""

import asyncio
import json
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from aiohttp import web
from rich.console import Console

from lab.load import Asking, Closed, Load, LoadError, LoadResult, Open, Routers
from lab.load.live import view
from tests.unit.lab.load.servers import STREAMS, asked, chunk, cut, good, hang, named, serving

PROJECT = Path(__file__).parents[4]
SCHEMA = json.loads((PROJECT / "docs/json/load.schema.json").read_text(encoding="utf-8"))
MIXED = Asking(prompt_tokens=50, output_tokens=5, stream_share=0.5)
Body = dict[str, Any]


def played(scene: Any) -> Any:
    return asyncio.run(asyncio.wait_for(scene, 20))


def balanced(result: LoadResult) -> bool:
    return result.sent == result.completed + result.lost + result.abandoned


def test_clients_send_as_many_requests_as_were_asked_for() -> None:
    async def scene() -> LoadResult:
        async with serving() as url:
            return await Load([url], "m", Closed(clients=7, requests=40), asking=MIXED).serve()

    result: LoadResult = played(scene())
    assert (result.sent, result.completed, result.lost) == (40, 40, 0)
    assert sum(result.by_kind.values()) == 40
    assert result.first_token.count == sum(
        count for kind, count in result.by_kind.items() if kind.endswith("stream")
    )


def test_every_second_answer_lost_is_half_of_the_requests() -> None:
    seen = 0

    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        nonlocal seen
        seen += 1
        if seen % 2:
            return await good(request, body, response)
        return cut(request)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            return await Load([url], "m", Closed(clients=20, requests=20), asking=STREAMS).serve()

    result: LoadResult = played(scene())
    assert result.by_cause == {"reset-mid-stream": 10}
    assert (result.completed, result.lost, len(result.failures)) == (10, 10, 10)


def test_a_lost_request_is_not_sent_again() -> None:
    seen: list[str] = []

    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        seen.append(request.headers["X-Request-Id"])
        cut(request)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            return await asked(url, STREAMS)

    result: LoadResult = played(scene())
    assert result.lost == len(seen) == 1


def test_the_first_failures_are_kept_with_target_and_cause() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        cut(request)

    async def scene() -> tuple[str, LoadResult]:
        async with serving(stream) as url:
            return url, await Load([url], "m", Closed(clients=30, requests=30), asking=STREAMS).serve()

    url, result = played(scene())
    assert len(result.failures) == 20
    assert {(one.target, one.cause, one.stream) for one in result.failures} == {
        (url, "reset-mid-stream", True)
    }
    assert result.by_target[url] == {"sent": 30, "lost": 30}


def test_as_many_failures_are_kept_as_were_asked_for() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        cut(request)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            profile = Closed(clients=30, requests=30)
            return await Load([url], "m", profile, asking=STREAMS, kept_failures=25).serve()

    assert len(played(scene()).failures) == 25


def test_targets_get_their_turns() -> None:
    async def scene() -> LoadResult:
        async with serving() as one, serving() as other:
            return await Load([one, other], "m", Closed(clients=4, requests=20), asking=MIXED).serve()

    result: LoadResult = played(scene())
    assert [found["sent"] for found in result.by_target.values()] == [10, 10]


def test_arrivals_are_sent_whether_answered_or_not() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await hang()

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            profile = Open(name="at once", times=[0.0] * 12, sizes=[(10, 3)] * 12)
            hasty = Asking(stream_share=1.0, first_byte_seconds=0.2)
            return await Load([url], "m", profile, asking=hasty).serve()

    assert played(scene()).by_cause == {"timeout-first-byte": 12}


def test_arrivals_beyond_the_generators_limit_are_told_and_not_lost() -> None:
    async def scene() -> LoadResult:
        async with serving() as url:
            profile = Open(name="at once", times=[0.0] * 5)
            return await Load([url], "m", profile, asking=STREAMS, most_in_flight=3).serve()

    result: LoadResult = played(scene())
    assert (result.completed, result.lost, result.unsent) == (3, 0, 2)


def test_sizes_of_a_trace_are_asked_for() -> None:
    bodies: list[Body] = []

    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        bodies.append(body)
        await good(request, body, response)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            profile = Open(name="two", times=[0.0, 0.0], sizes=[(100, 4), (200, 8)])
            return await Load([url], "m", profile, asking=STREAMS).serve()

    assert played(scene()).output_tokens == 12
    assert sorted(body["max_tokens"] for body in bodies) == [4, 8]


def test_a_load_beside_the_caller_shows_its_counts_and_can_be_given_up() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)))
        await hang()

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            asking = Asking(stream_share=1.0, output_tokens=5)
            load = Load([url], "m", Closed(clients=5, requests=1000), asking=asking)
            load.start()
            while load.counts.first_token.count < 5:
                await asyncio.sleep(0.01)
            assert (load.counts.in_flight, load.counts.lost, load.finished) == (5, 0, False)
            load.stop(now=True)
            return await asyncio.to_thread(load.wait, 10)

    result: LoadResult = played(scene())
    assert (result.sent, result.abandoned, result.lost) == (5, 5, 0)


def test_a_load_that_is_stopped_waits_for_what_is_in_flight() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await asyncio.sleep(0.1)
        await good(request, body, response)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            load = Load([url], "m", Closed(clients=3, seconds=1000), asking=STREAMS)
            running = asyncio.ensure_future(load.serve())
            while load.counts.in_flight < 3:
                await asyncio.sleep(0.01)
            load.stop()
            return await running

    result: LoadResult = played(scene())
    assert (result.sent, result.completed, result.lost, result.abandoned) == (3, 3, 0, 0)


def test_a_load_ends_with_its_time() -> None:
    async def scene() -> LoadResult:
        async with serving() as url:
            return await Load([url], "m", Closed(clients=2, seconds=0.2), asking=STREAMS).serve()

    result: LoadResult = played(scene())
    assert result.completed
    assert balanced(result)


def test_nothing_ready_to_send_to_is_a_loss_of_its_own() -> None:
    class Emptied:
        ready: tuple[str, ...] = ()

        def take(self) -> str | None:
            return None

        async def follow(self) -> None: ...

        async def some(self) -> None: ...

    result: LoadResult = played(Load(Emptied(), "m", Closed(clients=2, requests=2)).serve())
    assert result.by_cause == {"no-target": 2}


def test_the_document_is_as_its_schema_says() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        cut(request)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            return await Load([url], "m", Closed(clients=12, requests=12), asking=MIXED).serve()

    result: LoadResult = played(scene())
    document = result.as_json()
    assert result.lost
    assert result.completed
    jsonschema.validate(document, SCHEMA)
    del document["lostByCause"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_people_read_causes_and_failures() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        cut(request)

    async def scene() -> LoadResult:
        async with serving(stream) as url:
            return await asked(url, STREAMS)

    console = Console(width=160, record=True, file=StringIO())
    console.print(played(scene()).table())
    text = console.export_text()
    assert "reset-mid-stream" in text
    assert "the connection ended inside a stream" in text


def test_the_live_view_tells_losses_by_cause() -> None:
    load = Load(["http://127.0.0.1:1"], "m", Closed(clients=1, requests=1))
    load.run()
    console = Console(width=160, record=True, file=StringIO())
    console.print(view(load.counts, load.profile))
    assert "lost 1  connect-refused 1" in console.export_text()


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:8000",
        "http://example.com:80",
        "http://localhost:8000",
        "https://127.0.0.1:8000",
        "http://127.0.0.1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1.example.com:80",
        "http://user@10.1.1.1:80",
    ],
)
def test_a_target_that_is_not_loopback_is_refused(url: str) -> None:
    with pytest.raises(LoadError) as refused:
        Load([url], "m", Closed(requests=1))
    assert url in str(refused.value)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("http://127.3.4.5:8000/v1", "http://127.3.4.5:8000"), ("http://[::1]:80/", "http://[::1]:80")],
)
def test_a_loopback_target_is_taken(given: str, kept: str) -> None:
    assert Load([given], "m", Closed(requests=1)).counts.targets == (kept,)


def test_all_that_is_wrong_with_a_profile_is_said_at_once() -> None:
    with pytest.raises(LoadError) as refused:
        Closed(clients=0, think=-1, seconds=-5, requests=0)
    assert [problem.path for problem in refused.value.problems] == ["minutes", "requests", "clients", "think"]


def test_a_load_without_an_end_is_refused() -> None:
    with pytest.raises(LoadError, match="no end"):
        Closed(clients=1)


@pytest.mark.parametrize("times", [[], [1.0, 0.5], [-1.0]])
def test_arrivals_out_of_order_or_none_are_refused(times: Sequence[float]) -> None:
    with pytest.raises(LoadError):
        Open(name="x", times=times)


def test_shares_and_sizes_out_of_range_are_refused_together() -> None:
    with pytest.raises(LoadError) as refused:
        Asking(stream_share=1.5, chat_share=-1, prompt_tokens=0)
    assert [problem.path for problem in refused.value.problems] == ["stream", "chat", "prompt_tokens"]


def test_a_kubeconfig_that_is_not_there_ends_the_load_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    load = Load(Routers(tmp_path / "none", "llm", "m", patience=60), "m", Closed(requests=1))
    with pytest.raises(Exception, match="none"):
        load.run()
    assert time.monotonic() - began < 30
