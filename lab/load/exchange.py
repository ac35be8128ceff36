"""One request and its answer over HTTP, and what became of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from lab.load import causes
from lab.load.answer import Answer
from lab.load.causes import LostError
from lab.load.request import Asking, Request

CONNECT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 4.0
"""Below the 5 s after which vLLM closes an idle connection: never a request into one that is just being closed."""
_HEADERS = {"Content-Type": "application/json"}

OnFirst = Callable[[float], None]
"""Takes the seconds from the request to its first token."""


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What became of a request; seconds from its start. ``cause`` is None for a whole answer."""

    request: Request
    target: str
    first: float | None = None
    """To the first token of a stream."""
    seconds: float = 0.0
    cause: str | None = None
    detail: str = ""
    answer_id: str = ""
    prompt_tokens: int = 0
    output_tokens: int = 0


def session() -> aiohttp.ClientSession:
    """A client for any number of connections; proxies of the environment are not asked."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
    return aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False)


async def exchange(
    http: aiohttp.ClientSession, target: str, request: Request, asking: Asking, begin: OnFirst
) -> Outcome:
    """Sends a request once and reads its answer to the end; ``begin`` hears of a stream's first token.

    Never raises but for its own cancellation.

    No retry: aiohttp repeats only idempotent methods on a stale connection, and redirects are not followed.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    answer = Answer(request)
    outcome = Outcome(request=request, target=target)
    patience = asking.first_byte_seconds if request.stream else asking.total_seconds
    try:
        async with asyncio.timeout(min(patience, asking.total_seconds)) as deadline:

            def first() -> None:
                outcome.first = loop.time() - begun
                deadline.reschedule(begun + asking.total_seconds)
                begin(outcome.first)

            await _ask(http, target, request, answer, first)
        answer.judge()
    except LostError as error:
        outcome.cause, outcome.detail = error.cause, error.detail
    except TimeoutError:
        late = outcome.first is not None
        outcome.cause = causes.TOO_LONG if late else causes.NO_FIRST_BYTE
    except (aiohttp.ClientError, OSError) as error:
        outcome.cause, outcome.detail = causes.UNCONNECTED, f"{type(error).__name__}: {error}"
    outcome.seconds = loop.time() - begun
    outcome.answer_id = answer.id
    outcome.prompt_tokens, outcome.output_tokens = answer.prompt_tokens, answer.output_tokens
    return outcome


async def _ask(
    http: aiohttp.ClientSession, target: str, request: Request, answer: Answer, first: Callable[[], None]
) -> None:
    headers = {**_HEADERS, "X-Request-Id": request.id}
    try:
        response = await http.post(
            target + request.route, data=request.body, headers=headers, allow_redirects=False
        )
    except aiohttp.ConnectionTimeoutError as error:
        raise LostError(causes.UNCONNECTED, f"no connection within {CONNECT_SECONDS:.0f} s") from error
    except aiohttp.ClientConnectorError as error:
        refused = isinstance(error.os_error, ConnectionRefusedError)
        raise LostError(causes.REFUSED if refused else causes.UNCONNECTED, str(error)) from error
    except (aiohttp.ClientConnectionError, ConnectionError) as error:
        raise LostError(causes.RESET_BEFORE_HEADERS, f"{type(error).__name__}: {error}") from error
    except aiohttp.ClientResponseError as error:
        raise LostError(causes.MALFORMED, str(error)) from error
    async with response:
        try:
            if response.status != 200:
                raise LostError(causes.status(response.status), (await response.text())[:200])
            echoed = response.headers.get("X-Request-Id", request.id)
            if echoed != request.id:
                raise LostError(causes.SWAPPED, f"the answer to {echoed}")
            if request.stream:
                await _stream(response, answer, first)
            else:
                answer.whole(await response.read())
        except (aiohttp.ClientError, ConnectionError) as error:
            cut = causes.RESET_MID_STREAM if request.stream else causes.CUT_BODY
            raise LostError(cut, f"{type(error).__name__}: {error}") from error


async def _stream(response: aiohttp.ClientResponse, answer: Answer, first: Callable[[], None]) -> None:
    rest = b""
    begun = False
    async for block in response.content.iter_any():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            answer.line(line)
        if answer.begun and not begun:
            begun = True
            first()
    answer.line(rest)
