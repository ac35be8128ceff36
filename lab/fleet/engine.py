"""One simulated ``vllm serve``, seen as a process: it starts, serves, hears SIGTERM, exits or is killed."""

import asyncio
from dataclasses import dataclass, replace

from aiohttp import web

from lab.fleet.api import Api
from lab.fleet.arguments import EngineOptions
from lab.fleet.exposition import Exposition
from lab.fleet.settings import ModelTiming
from lab.fleet.simulation import Simulation
from planner.engine import EngineModel

_IMPORTING_SHARE = 0.15
"""The part of a start in which SIGTERM ends it at once (6 of 42 s); later it is lost and the start goes on
(vLLM 0.32.0)."""
TERMINATED, KILLED = 143, 137


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """How one engine behaves around its life; seconds. ``hangs``: an exit that cuts requests never ends."""

    start: float
    exit: float
    abort: float
    hangs: bool = False


class EngineProcess:
    """``exited`` is the exit code, once there is one: 0, 143 or 137."""

    def __init__(
        self, address: str, options: EngineOptions, model: EngineModel, timing: ModelTiming, conduct: Conduct
    ) -> None:
        if options.max_num_seqs is not None:
            model = replace(model, max_sequences=options.max_num_seqs)
        self._address = address
        self._options = options
        self._conduct = conduct
        loop = asyncio.get_running_loop()
        self._begun = loop.time()
        self._metrics = Exposition(options.model_name, options.max_model_len, model.kv_tokens)
        self._simulation = Simulation(model, self._metrics, options.max_num_queued_reqs)
        self._api = Api(options, self._simulation, self._metrics, timing.output_tokens)
        # A client that hangs up ends its request: the handler is cancelled.
        self._runner = web.AppRunner(
            self._api.application(),
            handler_cancellation=True,
            keepalive_timeout=options.keep_alive,
            shutdown_timeout=0.0,
            access_log=None,
        )
        self._site: web.TCPSite | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._ending = False
        self.exited: asyncio.Future[int] = loop.create_future()
        self._starting = loop.create_task(self._start())

    @property
    def serving(self) -> bool:
        """Whether the port is open."""
        return self._site is not None

    @property
    def load(self) -> int:
        """Requests in the engine."""
        return self._simulation.load

    async def _start(self) -> None:
        await asyncio.sleep(self._conduct.start)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._address, self._options.port)
        try:
            await site.start()
        except OSError:
            await self._end(1)
            raise
        self._site = site

    def terminate(self) -> None:
        """SIGTERM."""
        if self._stopping is not None or self._ending:
            return
        if not self.serving:
            age = asyncio.get_running_loop().time() - self._begun
            if age < self._conduct.start * _IMPORTING_SHARE:
                self._stopping = asyncio.create_task(self._end(TERMINATED))
            return
        self._stopping = asyncio.create_task(self._stop())

    async def kill(self) -> None:
        """SIGKILL: every connection is cut where it stands."""
        await self._end(KILLED)

    def freeze(self) -> None:
        """As with a GPU that hangs: requests and probes are taken and never answered."""
        self._api.hung = True
        self._simulation.freeze()

    async def _stop(self) -> None:
        if self._options.shutdown_timeout > 0:
            await self._drain()
        else:
            await self._abort()

    async def _drain(self) -> None:
        """New requests get 500, old ones finish; those that outlast the timeout hang, and so does the exit."""
        simulation, timeout = self._simulation, self._options.shutdown_timeout
        simulation.draining = True
        try:
            await asyncio.wait_for(simulation.idle.wait(), timeout)
        except TimeoutError:
            simulation.freeze()
            await self._close_port()
            return
        await asyncio.sleep(self._conduct.exit)
        await self._end(0)

    async def _abort(self) -> None:
        """The engine is killed at once; whether its last words get out is a race."""
        busy = self._simulation.load > 0
        await self._close_port()
        if busy and self._conduct.hangs:
            self._simulation.draining = True
            self._simulation.freeze()
            return
        self._simulation.abort_all()
        await asyncio.sleep(self._conduct.abort)
        await self._end(0)

    async def _close_port(self) -> None:
        site, self._site = self._site, None
        if site is not None:
            await site.stop()

    async def _end(self, code: int) -> None:
        if self._ending:
            return
        self._ending = True
        for task in (self._starting, self._stopping):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._simulation.freeze()
        await self._close_port()
        server = self._runner.server
        for connection in list(server.connections) if server else ():
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()
        self.exited.set_result(code)
