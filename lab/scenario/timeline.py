"""Everything that the API server told of a lab's objects, in order, with the moment at which it was told."""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import httpx2
from lightkube import ApiError, AsyncClient, KubeConfig

from lab.control.kubernetes import MANAGER
from lab.scenario.errors import WaitError
from lab.scenario.kinds import FOLLOWED, Body, Kind

T = TypeVar("T")
Key = tuple[str, str]
"""Namespace (empty without one) and name."""

_PAUSE_SECONDS = 0.5
_LOOK_SECONDS = 0.2
_LISTED_SECONDS = 60.0


@dataclass(frozen=True)
class Seen:
    """One state of one object. ``at``: seconds of time.monotonic(). The last one of a deleted object is ``gone``."""

    at: float
    key: Key
    body: Body
    gone: bool = False

    @property
    def uid(self) -> str:
        """Tells apart objects that had the same name one after the other."""
        return self.body["metadata"]["uid"]


class Timeline:
    """Follows a lab from ``__enter__`` to ``__exit__`` in a thread of its own; may be read from any thread.

    What happens while the API server is away is seen afterwards, in its result.
    """

    def __init__(self, kubeconfig: Path, kinds: Sequence[Kind] = FOLLOWED) -> None:
        self._kubeconfig = kubeconfig
        self._kinds = kinds
        self._lock = threading.Lock()
        self._seen: defaultdict[Kind, list[Seen]] = defaultdict(list)
        self._now: defaultdict[Kind, dict[Key, Body]] = defaultdict(dict)
        self._listed: set[Kind] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="timeline", daemon=True)
        self._following: asyncio.Future[Any] | None = None

    def __enter__(self) -> "Timeline":
        """Returns once all there is has been seen."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
        self.until(
            lambda: len(self._listed) == len(self._kinds), _LISTED_SECONDS, "a first list of each kind"
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops following; what was seen stays readable."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def now(self, kind: Kind) -> dict[Key, Body]:
        """The objects that there are."""
        with self._lock:
            return dict(self._now[kind])

    def seen(self, kind: Kind, *, since: float = 0.0, until: float = float("inf")) -> list[Seen]:
        """Every state that was told within a span of time, in order."""
        with self._lock:
            return [one for one in self._seen[kind] if since <= one.at <= until]

    def until(self, holds: Callable[[], T], seconds: float, what: str) -> T:
        """Returns what ``holds`` returns once that is true. Raises WaitError after ``seconds``."""
        deadline = time.monotonic() + seconds
        while True:
            found = holds()
            if found:
                return found
            if time.monotonic() > deadline:
                raise WaitError(f"waited {seconds:.0f} s in vain for {what}")
            time.sleep(_LOOK_SECONDS)

    async def _begin(self) -> None:
        self._following = asyncio.ensure_future(asyncio.gather(*(self._follow(kind) for kind in self._kinds)))

    async def _end(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self, kind: Kind) -> None:
        config = KubeConfig.from_file(self._kubeconfig)
        client = AsyncClient(config=config, field_manager=MANAGER, trust_env=False)
        try:
            while True:
                try:
                    await self._watch(client, kind)
                except (ApiError, httpx2.HTTPError):
                    await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            await client.close()

    async def _watch(self, client: AsyncClient, kind: Kind) -> None:
        where: dict[str, Any] = {"namespace": "*"} if kind.namespaced else {}
        listed = client.list(kind.resource, **where)
        present: set[Key] = set()
        async for body in listed:
            present.add(_key(body))
            self._tell(kind, body)
        for key in self._now[kind].keys() - present:
            self._tell(kind, self._now[kind][key], gone=True)
        self._listed.add(kind)
        version: Any = listed.resourceVersion
        async for event, body in client.watch(kind.resource, resource_version=version, **where):
            self._tell(kind, body, gone=event == "DELETED")

    def _tell(self, kind: Kind, body: Any, *, gone: bool = False) -> None:
        key, known = _key(body), self._now[kind]
        with self._lock:
            version = body["metadata"].get("resourceVersion")
            if not gone and key in known and known[key]["metadata"].get("resourceVersion") == version:
                return
            if gone:
                known.pop(key, None)
            else:
                known[key] = body
            self._seen[kind].append(Seen(time.monotonic(), key, body, gone))


def _key(body: Body) -> Key:
    metadata = body["metadata"]
    return metadata.get("namespace") or "", metadata["name"]
