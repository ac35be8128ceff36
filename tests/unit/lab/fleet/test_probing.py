"""Probes against a real engine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import aiohttp
from aiohttp import web

from lab.fleet.engine import Conduct
from lab.fleet.pods import Probe
from lab.fleet.probing import STALLED_SECONDS, Prober
from tests.unit.lab.fleet.engines import Caller, play, serving
from tests.unit.lab.fleet.test_life import CONTAINER


class Seen:
    """What the prober told, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def started(self) -> None:
        """The startup probe passed."""
        self.told.append("started")

    async def ready(self, ready: bool) -> None:
        """Readiness changed."""
        self.told.append("ready" if ready else "unready")

    async def until(self, *told: str) -> None:
        """Returns once exactly this was told."""
        while tuple(self.told) != told:
            await asyncio.sleep(0.002)


def _prober(caller: Caller, **probes: int) -> Prober:
    port = int(caller.url.rsplit(":", 1)[1])
    made = {
        name: Probe(port=port, path="/health", period=0.02, timeout=0.5, failures=failures)
        for name, failures in probes.items()
    }
    return Prober(caller.session, "127.0.0.1", replace(CONTAINER, **made))


def test_an_engine_is_ready_once_its_port_opens() -> None:
    async def scene() -> None:
        async with serving(Conduct(start=0.2, exit=0, abort=0), wait=False) as caller:
            seen = Seen()
            prober = _prober(caller, startup=1000, readiness=1)
            task = asyncio.create_task(prober.run(seen.started, seen.ready))
            await seen.until("started", "ready")
            assert caller.engine.serving
            task.cancel()

    play(scene())


def test_a_start_that_outlasts_its_probes_is_given_up() -> None:
    async def scene() -> None:
        async with serving(Conduct(start=60, exit=0, abort=0), wait=False) as caller:
            seen = Seen()
            assert await _prober(caller, startup=2).run(seen.started, seen.ready) == "startup"
            assert seen.told == []

    play(scene())


def test_an_engine_that_froze_is_unready_and_then_given_up() -> None:
    async def scene() -> None:
        async with serving() as caller:
            seen = Seen()
            prober = _prober(caller, readiness=1, liveness=2)
            task = asyncio.create_task(prober.run(seen.started, seen.ready))
            await seen.until("started", "ready")
            caller.engine.freeze()
            assert await task == "liveness"
            assert seen.told == ["started", "ready", "unready"]

    play(scene())


def _sees(wait: Callable[[float], Awaitable[None]]) -> list[str]:
    """What a prober tells of a container that answers at once, later each time after ``wait`` of its timeout and more."""
    seen = Seen()
    asked = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal asked
        del request
        asked += 1
        if asked > 1:
            await wait(0.1 + 2 * STALLED_SECONDS)
        return web.Response()

    async def scene() -> None:
        application = web.Application()
        application.router.add_get("/", answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        probe = Probe(port=runner.addresses[0][1], path="/", period=0.01, timeout=0.1, failures=1)
        async with aiohttp.ClientSession() as session:
            prober = Prober(session, "127.0.0.1", replace(CONTAINER, readiness=probe))
            task = asyncio.create_task(prober.run(seen.started, seen.ready))
            while asked < 4:
                await asyncio.sleep(0.01)
            task.cancel()
        await runner.cleanup()

    play(scene())
    return seen.told


def test_a_container_that_answers_too_late_is_not_ready() -> None:
    assert _sees(asyncio.sleep) == ["started", "ready", "unready"]


def test_a_fleet_that_stands_still_blames_no_container() -> None:
    async def stand_still(seconds: float) -> None:
        time.sleep(seconds)

    assert _sees(stand_still) == ["started", "ready"]
