"""The life of one pod, as a kubelet leads it: pull, start, probe, restart, and the way out."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import aiohttp

from lab.fleet import status
from lab.fleet.cluster import Cluster
from lab.fleet.pods import Pod
from lab.fleet.probing import Prober
from lab.fleet.status import Told
from lab.fleet.workload import Workload

Start = Callable[[Pod, int], Awaitable[Workload]]
"""Starts what runs in a pod, given how often it was restarted. Raises ValueError for what can't start."""
Pull = Callable[[Pod], Coroutine[Any, Any, None]]

_FIRST_BACKOFF, _LONGEST_BACKOFF = 10.0, 300.0
_LEAST_SECONDS = 2.0
"""What SIGTERM gets when preStop has used up the grace (Kubernetes: pod lifecycle, termination)."""


class PodLife:
    """Runs until the pod is gone. ``update`` tells what the API server says of it."""

    def __init__(
        self,
        pod: Pod,
        cluster: Cluster,
        session: aiohttp.ClientSession,
        start: Start,
        pull: Pull,
        factor: float,
    ) -> None:
        self.pod = pod
        self.workload: Workload | None = None
        self.restarts = pod.restarts + 1 if pod.ran else pod.restarts
        self._cluster = cluster
        self._prober = Prober(session, pod.address, pod.container)
        self._start = start
        self._pull = pull
        self._factor = factor
        self._deleted = asyncio.Event()
        self._deadline = 0.0
        self._since = status.now()
        self._told = Told(phase="Pending", state=status.waiting("ContainerCreating"))
        self._telling = asyncio.Lock()
        self._task = asyncio.create_task(self._run())
        self.update(pod)

    @property
    def ready(self) -> bool:
        """What the API server was last told."""
        return self._told.ready

    def update(self, pod: Pod) -> None:
        """The pod changed; its deletion, or a shorter grace, is acted on."""
        shorter = pod.deleting and (not self._deleted.is_set() or pod.grace < self.pod.grace)
        self.pod = pod
        if shorter:
            self._deadline = asyncio.get_running_loop().time() + pod.grace
            self._deleted.set()

    async def cut(self) -> None:
        """Power off, or the object is gone: killed without a word to the API server."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        deleted = asyncio.create_task(self._deleted.wait())
        probing: asyncio.Task[str] | None = None
        try:
            pulled = asyncio.create_task(self._pull(self.pod))
            await asyncio.wait({pulled, deleted}, return_when=asyncio.FIRST_COMPLETED)
            pulled.cancel()
            failures = 0
            while not deleted.done():
                workload = await self._begin()
                waits: set[asyncio.Future[Any]] = {deleted}
                if workload is not None:
                    probing = asyncio.create_task(self._prober.run(self._started, self._ready))
                    waits |= {workload.exited, probing}
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    if deleted.done():
                        break
                    if not workload.exited.done():
                        await self._stop(workload, self.pod.grace)
                    probing.cancel()
                failures += 1
                await self._restart(workload, failures, deleted)
            await self._leave()
        finally:
            deleted.cancel()
            if probing is not None:
                probing.cancel()
            if self.workload is not None:
                await self.workload.kill()

    async def _begin(self) -> Workload | None:
        self._since = status.now()
        try:
            self.workload = await self._start(self.pod, self.restarts)
        except ValueError as error:
            self.workload = None
            bad = status.terminated(2, self._since)
            bad["terminated"]["message"] = str(error)
            await self._tell(phase="Running", state=bad, ready=False, started=False)
            return None
        await self._tell(
            phase="Running",
            state=status.running(self._since),
            ready=False,
            started=self.pod.container.startup is None,
            restarts=self.restarts,
        )
        return self.workload

    async def _restart(self, workload: Workload | None, failures: int, deleted: asyncio.Task[Any]) -> None:
        code = workload.exited.result() if workload is not None else 2
        last = status.terminated(code, self._since)
        self.workload = None
        self.restarts += 1
        # The first restart is immediate, then 10 s, doubled each time (the kubelet's back-off).
        pause = 0.0 if failures == 1 else min(_LONGEST_BACKOFF, _FIRST_BACKOFF * 2 ** (failures - 2))
        state = status.waiting("CrashLoopBackOff")
        await self._tell(state=state, ready=False, started=False, restarts=self.restarts, last=last)
        await asyncio.wait({deleted}, timeout=pause * self._factor)

    async def _leave(self) -> None:
        workload = self.workload
        if workload is not None:
            await self._stop(workload, None)
            code = workload.exited.result()
            state = status.terminated(code, self._since)
            await self._tell(phase="Succeeded" if code == 0 else "Failed", state=state, ready=False)
        await self._cluster.finish(self.pod)

    async def _stop(self, workload: Workload, grace: float | None) -> None:
        """preStop, SIGTERM, SIGKILL at the end of the grace; without one the deletion's deadline holds."""
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def rest() -> float:
            end = self._deadline if grace is None else begun + grace
            return end - loop.time()

        await self._within(workload, lambda: min(rest(), begun + self.pod.container.pre_stop - loop.time()))
        if not workload.exited.done():
            least = loop.time() + (_LEAST_SECONDS if self.pod.grace else 0.0)
            workload.terminate()
            await self._within(workload, lambda: max(rest(), least - loop.time()))
        await workload.kill()

    async def _within(self, workload: Workload, rest: Callable[[], float]) -> None:
        """Waits for the exit as long as ``rest`` allows; a deadline that moves is seen within half a second."""
        while not workload.exited.done() and (left := rest()) > 0:
            await asyncio.wait({workload.exited}, timeout=min(left, 0.5))

    async def _started(self) -> None:
        await self._tell(started=True)

    async def _ready(self, ready: bool) -> None:
        await self._tell(ready=ready)

    async def _tell(self, **changes: Any) -> None:
        async with self._telling:
            told = Told(**{**vars(self._told), **changes})
            if told != self._told:
                self._told = told
                await self._cluster.tell(self.pod, status.patch(self.pod, told))
