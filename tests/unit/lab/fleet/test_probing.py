"""Probes against a real engine."""

import asyncio
from dataclasses import replace

from lab.fleet.engine import Conduct
from lab.fleet.pods import Probe
from lab.fleet.probing import Prober
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
