"""Engines of the tests: fast ones on loopback addresses of their own, and what their clients do."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from lab.fleet.arguments import EngineOptions
from lab.fleet.engine import Conduct, EngineProcess
from lab.fleet.settings import UNKNOWN
from planner.engine import EngineModel

FAST = EngineModel(
    step=0.01,
    per_sequence=0.0001,
    per_prompt_token=0.00001,
    max_sequences=4,
    kv_tokens=16_000,
    batched_tokens=8192,
)
SERVING = Conduct(start=0.0, exit=0.0, abort=0.0)
"""Starts and ends at once."""


class Caller:
    """One engine and one client."""

    def __init__(self, engine: EngineProcess, url: str, session: aiohttp.ClientSession) -> None:
        self.engine = engine
        self.url = url
        self.session = session

    async def ask(self, tokens: int, path: str = "/v1/completions", **more: Any) -> tuple[int, Any]:
        """Status and body of a request that is not streamed."""
        body = {"model": "m", "prompt": "word " * 40, "max_tokens": tokens, **more}
        async with self.session.post(self.url + path, json=body) as response:
            return response.status, await response.json()

    async def stream(self, tokens: int, path: str = "/v1/completions", **more: Any) -> list[Any]:
        """The events of a stream, [DONE] as text."""
        body = {"model": "m", "prompt": "word " * 40, "max_tokens": tokens, "stream": True, **more}
        async with self.session.post(self.url + path, json=body) as response:
            assert response.status == 200
            text = (await response.read()).decode()
        lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]

    async def get(self, path: str) -> tuple[int, str]:
        """Status and text of a GET."""
        async with self.session.get(self.url + path) as response:
            return response.status, await response.text()

    async def metric(self, line: str) -> float:
        """The value of a series, written as in the exposition."""
        text = (await self.get("/metrics"))[1]
        (found,) = [one for one in text.splitlines() if one.startswith(f"{line} ")]
        return float(found.rsplit(" ", 1)[1])

    async def loaded(self, count: int) -> None:
        """Returns once the engine holds so many requests."""
        while self.engine.load != count:
            await asyncio.sleep(0.002)


@asynccontextmanager
async def serving(
    conduct: Conduct = SERVING, *, wait: bool = True, model: EngineModel = FAST, **options: Any
) -> AsyncGenerator[Caller]:
    """An engine at a free port, killed at the end."""
    port = free_port()
    engine = EngineProcess(
        "127.0.0.1", EngineOptions(model_name="m", port=port, **options), model, UNKNOWN, conduct
    )
    async with aiohttp.ClientSession() as session:
        while wait and not engine.serving:
            await asyncio.sleep(0.002)
        try:
            yield Caller(engine, f"http://127.0.0.1:{port}", session)
        finally:
            await engine.kill()


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def play(scene: Coroutine[Any, Any, None]) -> None:
    """Runs a scene; one that hangs fails."""

    async def limited() -> None:
        await asyncio.wait_for(scene, 20)

    asyncio.run(limited())
