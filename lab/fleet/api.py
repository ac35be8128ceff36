"""The HTTP face of one engine: what is answered, with which status, while serving, full and draining."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable

from aiohttp import web

from lab.fleet import answers
from lab.fleet.answers import Answer
from lab.fleet.arguments import EngineOptions
from lab.fleet.asked import Asked, RefusedError, Route, Sizes, parse, sizes
from lab.fleet.exposition import CONTENT_TYPE, Exposition
from lab.fleet.simulation import DrainingError, FullError, Simulation, Ticket
from planner.batching import TooLongError

_UNCOUNTED = {"/health", "/ping", "/metrics", "/load"}
_MOST_BYTES = 16 * 2**20

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """The routes. /health is 200 to the end, draining or not (vLLM 0.32.0). ``hung``: nothing is answered."""

    def __init__(
        self, options: EngineOptions, engine: Simulation, metrics: Exposition, natural_tokens: int
    ) -> None:
        self._options = options
        self._engine = engine
        self._metrics = metrics
        self._natural = natural_tokens
        self._created = int(time.time())
        self.hung = False

    def application(self) -> web.Application:
        """An application for one server."""
        made = web.Application(middlewares=[self._counted], client_max_size=_MOST_BYTES)
        made.add_routes(
            [
                web.get("/health", self._empty),
                web.get("/ping", self._empty),
                web.post("/ping", self._empty),
                web.get("/load", self._load),
                web.get("/metrics", self._scrape),
                web.get("/v1/models", self._models),
                web.post("/v1/completions", self._completions),
                web.post("/v1/chat/completions", self._chat),
            ]
        )
        return made

    @web.middleware
    async def _counted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.hung:
            await asyncio.get_running_loop().create_future()
        if request.path in _UNCOUNTED:
            return await handler(request)
        begun = time.monotonic()
        response = await handler(request)
        self._metrics.answered(request.path, request.method, response.status, time.monotonic() - begun)
        return response

    async def _empty(self, request: web.Request) -> web.Response:
        del request
        return web.Response()

    async def _load(self, request: web.Request) -> web.Response:
        # Always 0 without --enable-server-load-tracking (vLLM 0.32.0).
        del request
        return web.json_response({"server_load": 0})

    async def _scrape(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=self._metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def _models(self, request: web.Request) -> web.Response:
        del request
        options = self._options
        return web.json_response(answers.models(options.model_name, self._created, options.max_model_len))

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, "/v1/completions", "cmpl")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, "/v1/chat/completions", "chatcmpl")

    async def _generate(self, request: web.Request, route: Route, prefix: str) -> web.StreamResponse:
        options = self._options
        try:
            asked = parse(await request.read(), route, options.model_name)
            size = sizes(asked, options.max_model_len, self._natural)
            ending = "stop" if size.natural else "length"
            ticket = self._engine.submit(size.prompt, size.output, ending, streamed=asked.stream)
        except RefusedError as error:
            return _refused(error.status, error.kind, str(error))
        except TooLongError as error:
            return _refused(400, "BadRequestError", str(error))
        except FullError as error:
            if error.late and asked.stream:  # pyright: ignore[reportPossiblyUnboundVariable] - raised by submit
                return await _refused_in_stream(request, str(error))
            return _refused(503, "Service Unavailable", str(error))
        except DrainingError as error:
            return _refused(500, "InternalServerError", str(error))
        answer = Answer(
            route=route,
            # The caller's own id, if it has one (vllm/entrypoints/openai, _base_request_id).
            id=f"{prefix}-{request.headers.get('X-Request-Id') or uuid.uuid4().hex}",
            model=options.model_name,
            created=int(time.time()),
        )
        if asked.stream:
            return await self._stream(request, answer, ticket, asked, size)
        made, reason = 0, None
        async for one in self._engine.outputs(ticket):
            made += one.tokens
            reason = one.reason
        return web.json_response(answer.whole(size.prompt, made, reason))

    async def _stream(
        self, request: web.Request, answer: Answer, ticket: Ticket, asked: Asked, size: Sizes
    ) -> web.StreamResponse:
        response = _stream_response()
        outputs = self._engine.outputs(ticket)
        try:
            await response.prepare(request)
            made = 0
            async for one in outputs:
                made += one.tokens
                if one.tokens or one.reason:
                    await response.write(answer.chunk(one.tokens, one.reason))
            if asked.usage_wanted:
                await response.write(answer.usage_chunk(size.prompt, made))
            await response.write(answers.DONE)
            await response.write_eof()
        finally:
            await outputs.aclose()
            self._engine.abandon(ticket)
        return response


def _stream_response() -> web.StreamResponse:
    return web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})


async def _refused_in_stream(request: web.Request, message: str) -> web.StreamResponse:
    response = _stream_response()
    await response.prepare(request)
    await response.write(answers.event(answers.error(503, "Service Unavailable", message)))
    await response.write(answers.DONE)
    await response.write_eof()
    return response


def _refused(status: int, kind: str, message: str) -> web.Response:
    return web.json_response(answers.error(status, kind, message), status=status)
