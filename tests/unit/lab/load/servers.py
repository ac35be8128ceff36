"""Servers that answer as an OpenAI server does, or go wrong in one way each."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from lab.load import Asking, Closed, Load, LoadResult

Behaviour = Callable[[web.Request, dict[str, Any], web.StreamResponse], Awaitable[None]]
"""Writes a stream that has begun; what it leaves open is ended in good order."""
Whole = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

STREAMS = Asking(prompt_tokens=20, output_tokens=6, spread=False, stream_share=1.0)
WHOLES = Asking(prompt_tokens=20, output_tokens=6, spread=False, stream_share=0.0)


def chunk(name: str, reason: str | None = None, **more: Any) -> bytes:
    """An event with one token."""
    return event({"id": name, "choices": [{"index": 0, "text": " token", "finish_reason": reason}], **more})


def event(body: dict[str, Any]) -> bytes:
    """An event, compact as vLLM writes it."""
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


def usage(tokens: int) -> dict[str, int]:
    """Counts of an answer."""
    return {"prompt_tokens": 20, "completion_tokens": tokens}


def named(request: web.Request) -> str:
    """The id that vLLM gives an answer whose request brought one."""
    return f"cmpl-{request.headers['X-Request-Id']}-0"


async def good(request: web.Request, body: dict[str, Any], response: web.StreamResponse) -> None:
    """All that was asked for."""
    name, tokens = named(request), body["max_tokens"]
    for number in range(tokens):
        await response.write(chunk(name, "length" if number == tokens - 1 else None))
    await response.write(event({"id": name, "choices": [], "usage": usage(tokens)}))
    await response.write(b"data: [DONE]\n\n")


async def good_whole(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """All that was asked for, in one piece."""
    choice = {"index": 0, "text": "x", "finish_reason": "length"}
    return web.json_response({"id": named(request), "choices": [choice], "usage": usage(body["max_tokens"])})


def cut(request: web.Request) -> None:
    """Ends the connection where it stands."""
    assert request.transport is not None
    request.transport.abort()


async def hang() -> None:
    """Waits longer than any client."""
    await asyncio.sleep(60)


@asynccontextmanager
async def serving(stream: Behaviour = good, whole: Whole = good_whole) -> AsyncGenerator[str]:
    """The base URL of a server; requests that still run are cancelled at the end."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        if not body["stream"]:
            return await whole(request, body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await stream(request, body, response)
        return response

    application = web.Application()
    application.add_routes([web.post("/v1/completions", answer), web.post("/v1/chat/completions", answer)])
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.0, access_log=None)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def asked(url: str, asking: Asking, requests: int = 1) -> LoadResult:
    """A load of one client."""
    return await Load([url], "m", Closed(clients=1, requests=requests), asking=asking).serve()


def lost(stream: Behaviour = good, whole: Whole = good_whole, asking: Asking = STREAMS) -> dict[str, int]:
    """The causes of one request to such a server; empty when it is complete."""

    async def scene() -> dict[str, int]:
        async with serving(stream, whole) as url:
            result = await asked(url, asking)
        assert result.sent == result.completed + result.lost == 1
        return result.by_cause

    return asyncio.run(asyncio.wait_for(scene(), 20))
