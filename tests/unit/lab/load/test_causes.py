"""Each way to lose a request is counted as what it is; the near twin that loses nothing is complete."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from lab.load import Asking
from tests.unit.lab.load.servers import (
    STREAMS,
    WHOLES,
    asked,
    chunk,
    cut,
    event,
    free_port,
    good,
    hang,
    lost,
    named,
    serving,
    usage,
)

Body = dict[str, Any]
HASTY = {"first_byte_seconds": 0.2, "total_seconds": 0.4}
DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize("asking", [STREAMS, WHOLES], ids=["stream", "whole"])
def test_an_answer_in_full_is_complete(asking: Asking) -> None:
    assert lost(asking=asking) == {}


def test_a_port_without_a_server_refuses() -> None:
    result = asyncio.run(asked(f"http://127.0.0.1:{free_port()}", STREAMS))
    assert result.by_cause == {"connect-refused": 1}


def test_a_connection_that_ends_before_the_headers_is_a_reset() -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        cut(request)
        return web.Response()

    assert lost(whole=whole, asking=WHOLES) == {"reset-before-headers": 1}


def test_a_stream_that_is_cut_is_a_reset_in_it() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)))
        cut(request)

    assert lost(stream) == {"reset-mid-stream": 1}


def test_a_stream_that_is_cut_after_its_last_token_is_lost_all_the_same() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await good(request, body, response)
        cut(request)

    assert lost(stream) == {"reset-mid-stream": 1}


def test_a_body_that_is_cut_is_no_answer() -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'{"id":')
        cut(request)
        return response

    assert lost(whole=whole, asking=WHOLES) == {"cut-body": 1}


@pytest.mark.parametrize("ending", [b"", DONE], ids=["nothing", "[DONE]"])
def test_a_stream_without_a_finish_reason_is_unfinished(ending: bytes) -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)) + ending)

    assert lost(stream) == {"stream-unfinished": 1}


def test_a_stream_without_done_is_unfinished() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request), "length", usage=usage(6)))

    assert lost(stream) == {"stream-unfinished": 1}


@pytest.mark.parametrize("status", [307, 400, 404, 429, 500, 502, 503, 504])
def test_a_status_other_than_200_is_its_own_cause(status: int) -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": "http://127.0.0.1:1/"})

    assert lost(whole=whole, asking=WHOLES) == {f"status-{status}": 1}


def test_an_error_inside_a_stream_of_status_200_is_lost() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(event({"error": {"message": "busy", "code": 503}}) + DONE)

    assert lost(stream) == {"error-event": 1}


def test_no_first_token_in_time_is_a_timeout_though_the_headers_came() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await hang()

    assert lost(stream, asking=replace(STREAMS, **HASTY)) == {"timeout-first-byte": 1}


def test_an_answer_that_never_comes_is_a_timeout() -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        await hang()
        return web.Response()

    assert lost(whole=whole, asking=replace(WHOLES, **HASTY)) == {"timeout-first-byte": 1}


def test_a_stream_that_stops_is_a_timeout_of_the_whole() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)))
        await hang()

    asking = replace(STREAMS, first_byte_seconds=1.0, total_seconds=1.2)
    assert lost(stream, asking=asking) == {"timeout-total": 1}


def test_a_stream_slower_than_the_first_token_may_be_is_complete() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)))
        await asyncio.sleep(1.1)
        await good(request, body, response)

    assert lost(stream, asking=replace(STREAMS, first_byte_seconds=1.0)) == {}


def test_a_finish_reason_of_abort_is_lost_though_its_end_is_in_good_order() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)) + chunk(named(request), "abort"))
        await response.write(event({"id": named(request), "choices": [], "usage": usage(2)}) + DONE)

    assert lost(stream) == {"aborted": 1}


@pytest.mark.parametrize(("tokens", "cause"), [(5, "short-output"), (7, "long-output")])
def test_an_answer_of_another_length_than_asked_for_is_lost(tokens: int, cause: str) -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await good(request, {**body, "max_tokens": tokens}, response)

    assert lost(stream) == {cause: 1}


def test_a_text_that_ends_by_itself_may_be_shorter() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk(named(request), "stop", usage=usage(3)) + DONE)

    assert lost(stream) == {}


def test_the_answer_to_another_request_is_swapped() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(
            chunk(f"cmpl-{request.headers['X-Request-Id']}9", "length", usage=usage(6)) + DONE
        )

    assert lost(stream) == {"swapped-answer": 1}


def test_a_token_of_another_answer_inside_a_stream_is_swapped() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        await response.write(chunk("cmpl-a") + chunk("cmpl-b"))
        await good(request, body, response)

    assert lost(stream) == {"swapped-answer": 1}


def test_two_answers_of_one_id_are_a_duplicate() -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        choice = {"text": "x", "finish_reason": "length"}
        return web.json_response({"id": "cmpl-same", "choices": [choice], "usage": usage(6)})

    async def scene() -> dict[str, int]:
        async with serving(whole=whole) as url:
            return (await asked(url, WHOLES, 2)).by_cause

    assert asyncio.run(scene()) == {"duplicate-answer": 1}


@pytest.mark.parametrize("text", ["<html>", "[]", ""])
def test_what_is_no_json_object_is_no_answer(text: str) -> None:
    async def whole(request: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(text=text)

    assert lost(whole=whole, asking=WHOLES) == {"malformed-answer": 1}


def test_tokens_split_anywhere_in_the_bytes_are_read_all_the_same() -> None:
    async def stream(request: web.Request, body: Body, response: web.StreamResponse) -> None:
        text = chunk(named(request)) + chunk(named(request), "length", usage=usage(6)) + DONE
        for byte in text.replace(b"\n", b"\r\n"):
            await response.write(bytes([byte]))
            await asyncio.sleep(0)

    assert lost(stream) == {}
