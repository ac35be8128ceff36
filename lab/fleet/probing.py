"""The kubelet's probes: startup first, then readiness and liveness side by side."""

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp

from lab.fleet.pods import Container, Probe

STALLED_SECONDS = 0.2
"""A timeout that is heard so much too late says that this process stood still, and nothing about the container: the
fleet shares a small machine with a whole control plane, a kubelet has its node's reserve."""

Ready = Callable[[bool], Awaitable[None]]
Started = Callable[[], Awaitable[None]]


class Prober:
    """Probes one container at its address."""

    def __init__(self, session: aiohttp.ClientSession, address: str, container: Container) -> None:
        self._session = session
        self._address = address
        self._container = container

    async def run(self, started: Started, ready: Ready) -> str:
        """Tells what the probes see; returns once the container must be restarted: which probe failed."""
        probes = self._container
        if probes.startup is not None and not await self._until_up(probes.startup):
            return "startup"
        await started()
        # asyncio.gather would go on with the other one after an error.
        async with asyncio.TaskGroup() as group:
            readiness = group.create_task(self._readiness(probes.readiness, ready))
            await self._liveness(probes.liveness)
            readiness.cancel()
        return "liveness"

    async def _until_up(self, probe: Probe) -> bool:
        await asyncio.sleep(probe.delay)
        failed = 0
        while failed < probe.failures:
            well = await self._ask(probe)
            if well:
                return True
            failed += well is False
            await asyncio.sleep(probe.period)
        return False

    async def _readiness(self, probe: Probe | None, ready: Ready) -> None:
        if probe is None:
            await ready(True)
            return
        await asyncio.sleep(probe.delay)
        failed, told = 0, False
        while True:
            well = await self._ask(probe)
            if well:
                failed = 0
                if not told:
                    told = True
                    await ready(True)
            elif well is False:
                failed += 1
                if told and failed >= probe.failures:
                    told = False
                    await ready(False)
            await asyncio.sleep(probe.period)

    async def _liveness(self, probe: Probe | None) -> None:
        if probe is None:
            await asyncio.get_running_loop().create_future()
            return
        await asyncio.sleep(probe.delay)
        failed = 0
        while failed < probe.failures:
            well = await self._ask(probe)
            failed = 0 if well else failed + (well is False)
            await asyncio.sleep(probe.period)

    async def _ask(self, probe: Probe) -> bool | None:
        """Whether it is well; None when nothing can be said of it."""
        loop = asyncio.get_running_loop()
        url = f"http://{self._address}:{probe.port}{probe.path}"
        timeout = aiohttp.ClientTimeout(total=probe.timeout)
        begun = loop.time()
        try:
            async with self._session.get(url, timeout=timeout, allow_redirects=False) as response:
                return 200 <= response.status < 400
        except (aiohttp.ClientError, TimeoutError):
            return None if loop.time() - begun > probe.timeout + STALLED_SECONDS else False
