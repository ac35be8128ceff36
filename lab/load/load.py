"""A load from its first request to its result, in the caller's thread or beside it."""

import asyncio
import itertools
import threading
import time
from collections.abc import Sequence
from typing import Final

import aiohttp

from lab.load import causes
from lab.load.exchange import Outcome, exchange, session
from lab.load.ledger import KEPT_FAILURES, Counts, Ledger
from lab.load.profile import Closed, Open, Profile
from lab.load.request import Asking, Request, Requests, Sizes
from lab.load.result import LoadResult
from lab.load.targets import Fixed, Targets

PAUSE_SECONDS: Final = 1.0
"""A client that lost a request waits so long before its next one: what refuses at once is not hammered."""
MOST_IN_FLIGHT: Final = 4000


class Load:
    """One load, run once: ``run`` blocks; ``start`` runs it in a thread, ``wait`` gives its result. ``counts`` and
    ``stop`` may be called from any thread at any time.
    """

    def __init__(
        self,
        targets: Targets | Sequence[str],
        model: str,
        profile: Profile,
        seed: int = 0,
        *,
        asking: Asking | None = None,
        most_in_flight: int = MOST_IN_FLIGHT,
        kept_failures: int = KEPT_FAILURES,
    ) -> None:
        """``model`` is the name that callers use; the first ``kept_failures`` losses are told one by one.

        Raises LoadError for a target that is not loopback.
        """
        self.model = model
        self.profile = profile
        self.seed = seed
        self._asking = asking or Asking()
        self._targets: Targets = Fixed(targets) if isinstance(targets, Sequence) else targets
        self._requests = Requests(model, self._asking, seed)
        self._most = most_in_flight
        self._ledger = Ledger(kept_failures)
        self._tasks: set[asyncio.Task[Outcome | None]] = set()
        self._started = False
        # Not Thread.join: an interrupt in it marks a running thread as ended (CPython 3.11, bpo-45274).
        self._ended = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self._stopped = False
        self._failed: BaseException | None = None
        self._result: LoadResult | None = None

    @property
    def counts(self) -> Counts:
        """How it stands now."""
        return self._ledger.counts(self._targets.ready)

    @property
    def finished(self) -> bool:
        """Whether a started load has come to its end."""
        return self._ended.is_set()

    def run(self) -> LoadResult:
        """The whole load, here. Raises LabError when no target becomes ready."""
        return asyncio.run(self.serve())

    def start(self) -> None:
        """The load in a thread of its own; returns at once."""
        self._started = True
        threading.Thread(target=self._run, name="load", daemon=True).start()

    def join(self, seconds: float) -> None:
        """Waits for the end of a started load, at most so long."""
        if self._started:
            self._ended.wait(seconds)

    def wait(self, seconds: float | None = None) -> LoadResult:
        """The result of a started load; raises what ended it, and TimeoutError when it runs on."""
        if not self._started:
            raise RuntimeError("the load was not started")
        if not self._ended.wait(seconds):
            raise TimeoutError(f"the load still runs after {seconds} s more")
        if self._failed is not None:
            raise self._failed
        assert self._result is not None  # noqa: S101 - a thread that ended without a failure has a result
        return self._result

    def stop(self, *, now: bool = False) -> None:
        """No more requests; those in flight are waited for, or given up ``now`` (counted as abandoned)."""
        loop = self._loop
        self._stopped = True
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._stop, now)

    async def serve(self) -> LoadResult:
        """The whole load in a running event loop."""
        self._loop = asyncio.get_running_loop()
        begun = time.thread_time()
        following = asyncio.ensure_future(self._targets.follow())
        try:
            await self._some(following)
            self._ledger.start()
            if self._stopped:
                self._over.set()
            async with session() as http:
                await self._all(http)
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            self._loop = None
        self._result = LoadResult.of(self, self._ledger, time.thread_time() - begun)
        return self._result

    async def _some(self, following: "asyncio.Future[None]") -> None:
        """Waits for the first target; raises what ended the search for it."""
        waiting = asyncio.ensure_future(self._targets.some())
        await asyncio.wait({waiting, following}, return_when=asyncio.FIRST_COMPLETED)
        try:
            if following.done():
                following.result()
            await waiting
        finally:
            waiting.cancel()

    def _run(self) -> None:
        try:
            self._result = self.run()
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            self._failed = error
        finally:
            self._ended.set()

    def _stop(self, now: bool) -> None:
        self._over.set()
        for task in self._tasks if now else ():
            task.cancel()

    async def _all(self, http: aiohttp.ClientSession) -> None:
        seconds = self.profile.seconds
        ending = self._loop.call_later(seconds, self._over.set) if self._loop and seconds else None
        try:
            if isinstance(self.profile, Closed):
                await self._closed(http, self.profile)
            else:
                await self._open(http, self.profile)
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            if ending is not None:
                ending.cancel()

    async def _closed(self, http: aiohttp.ClientSession, profile: Closed) -> None:
        numbers = itertools.count(1)

        async def client() -> None:
            pause = 0.0
            while not self._over.is_set():
                if profile.requests is not None and next(numbers) > profile.requests:
                    return
                await self._rest(pause)
                if self._over.is_set():
                    return
                outcome = await self._send(http, None)
                lost = outcome is None or outcome.cause is not None
                pause = max(profile.think, PAUSE_SECONDS if lost else 0.0)

        async with asyncio.TaskGroup() as group:
            for _ in range(profile.clients):
                group.create_task(client())

    async def _open(self, http: aiohttp.ClientSession, profile: Open) -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.get_running_loop().time()
        for number, moment in enumerate(profile.times):
            if self._over.is_set() or number == profile.requests:
                return
            await self._rest(begun + moment - loop.time())
            if self._over.is_set():
                return
            if len(self._tasks) >= self._most:
                self._ledger.skip()
                continue
            self._ledger.delay(max(0.0, loop.time() - begun - moment))
            self._send(http, profile.sizes[number] if profile.sizes is not None else None)

    async def _rest(self, seconds: float) -> None:
        """Sleeps, at most to the end of the load."""
        if seconds <= 0:
            return
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return

    def _send(self, http: aiohttp.ClientSession, sizes: Sizes | None) -> "asyncio.Task[Outcome | None]":
        request = self._requests.make(sizes)
        task = asyncio.ensure_future(self._exchange(http, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _exchange(self, http: aiohttp.ClientSession, request: Request) -> Outcome | None:
        """None when the load was stopped meanwhile."""
        target = self._targets.take()
        self._ledger.send(target or "", clipped=request.clipped)
        try:
            if target is None:
                outcome = Outcome(request=request, target="", cause=causes.NO_TARGET)
            else:
                outcome = await exchange(http, target, request, self._asking, self._ledger.begin)
        except asyncio.CancelledError:
            self._ledger.abandon()
            return None
        self._ledger.end(outcome)
        return outcome
