"""Where requests go: addresses given, or the Ready routers of a model, followed as a Service follows them."""

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2
from lightkube import ApiError, AsyncClient, KubeConfig

from lab.control import kubernetes
from lab.control.errors import LabError
from lab.control.kubernetes import MANAGER
from lab.load.errors import LoadError
from specs.labels import MODEL_KEY, PART_KEY
from specs.problems import Problem, shown
from specs.router import PORT

POD: Final = kubernetes.resource("", "v1", "Pod", "pods")
_PAUSE_SECONDS: Final = 0.5


class Targets(Protocol):
    """Base URLs, one after the other."""

    @property
    def ready(self) -> tuple[str, ...]:
        """Those that may be sent to now, sorted."""
        ...

    def take(self) -> str | None:
        """The next in turn; None when there is none."""
        ...

    async def follow(self) -> None:
        """Runs beside the load and keeps ``ready`` true; may end at once."""
        ...

    async def some(self) -> None:
        """Returns once there is one. Raises LabError when that takes too long."""
        ...


class _Turns:
    """Round robin over a changing set."""

    def __init__(self) -> None:
        self._last = -1
        self.ready: tuple[str, ...] = ()

    def take(self) -> str | None:
        if not self.ready:
            return None
        self._last += 1
        return self.ready[self._last % len(self.ready)]


class Fixed(_Turns):
    """The same base URLs to the end, such as http://127.0.0.1:8000. Raises LoadError for any but loopback."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__()
        self.ready = loopback(urls)

    async def follow(self) -> None:
        """Nothing changes."""

    async def some(self) -> None:
        """There always is."""


class Routers(_Turns):
    """The model's router pods in ``namespace`` that are Ready and not leaving: what its Service would offer.

    While the API server is away the last known ones hold, as kube-proxy's rules do. ``patience``: seconds to wait
    for the first one.
    """

    def __init__(self, kubeconfig: Path, namespace: str, model: str, patience: float = 60.0) -> None:
        super().__init__()
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._labels = {MODEL_KEY: model, PART_KEY: "router"}
        self._patience = patience
        self._urls: dict[str, str] = {}
        self._some = asyncio.Event()
        self._trouble = ""

    async def follow(self) -> None:
        """Watches the pods until cancelled."""
        config = KubeConfig.from_file(self._kubeconfig)
        client = AsyncClient(config=config, field_manager=MANAGER, trust_env=False)
        try:
            while True:
                try:
                    await self._watch(client)
                except (ApiError, httpx2.HTTPError) as error:
                    self._trouble = f" The API server last said: {error!r}."
                    await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            await client.close()

    async def some(self) -> None:
        """Returns once a router is Ready. Raises LabError."""
        try:
            await asyncio.wait_for(self._some.wait(), self._patience)
        except TimeoutError as error:
            labels = ",".join(f"{key}={value}" for key, value in self._labels.items())
            raise LabError(
                f"No router Ready within {self._patience:.0f} s: no pod with {labels} in namespace "
                f"{self._namespace}. Bring the stack up in this lab first, or name another model.{self._trouble}"
            ) from error

    async def _watch(self, client: AsyncClient) -> None:
        listed = client.list(POD, namespace=self._namespace, labels=dict(self._labels))
        self._urls = {}
        async for body in listed:
            self._see(body)
        self._tell()
        watched = client.watch(
            POD,
            namespace=self._namespace,
            labels=dict(self._labels),
            resource_version=listed.resourceVersion,
        )
        async for event, body in watched:
            self._see(body, gone=event == "DELETED")
            self._tell()

    def _see(self, body: Mapping[str, Any], *, gone: bool = False) -> None:
        uid = body["metadata"]["uid"]
        url = None if gone else endpoint(body)
        if url is None:
            self._urls.pop(uid, None)
        else:
            self._urls[uid] = url

    def _tell(self) -> None:
        self.ready = tuple(sorted(self._urls.values()))
        if self.ready:
            self._some.set()


def endpoint(pod: Mapping[str, Any]) -> str | None:
    """The base URL of a router pod; None unless it is Ready, stays, and has a loopback address."""
    status: Mapping[str, Any] = pod.get("status") or {}
    conditions: Sequence[Any] = status.get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    address: str = status.get("podIP", "")
    if not ready or "deletionTimestamp" in pod["metadata"] or not _is_loopback(address):
        return None
    ports = [port for container in pod["spec"]["containers"] for port in container.get("ports") or ()]
    port = next((one["containerPort"] for one in ports if one.get("name") == "http"), PORT)
    return f"http://{address}:{port}"


def loopback(urls: Sequence[str]) -> tuple[str, ...]:
    """Base URLs without a slash at their end. Raises LoadError for none, and for each that is not loopback."""
    problems = [problem for url in urls if (problem := _problem(url))]
    if not urls:
        problems.append(Problem("targets", "none", "at least one base URL", "e.g. http://127.0.0.1:8000"))
    if problems:
        raise LoadError(problems)
    return tuple(sorted(url.rstrip("/").removesuffix("/v1") for url in urls))


def _problem(url: str) -> Problem | None:
    fix = "send only to a lab on this machine, e.g. http://127.0.0.1:8000"
    try:
        parts = urlsplit(url)
        known = parts.scheme == "http" and parts.port is not None and not parts.query
        inside = _is_loopback(parts.hostname or "")
    except ValueError as error:
        return Problem("target", f"{shown(url)} ({error})", "http://LOOPBACK:PORT", fix)
    if known and inside:
        return None
    return Problem("target", shown(url), "http://LOOPBACK:PORT with an address of 127.0.0.0/8 or ::1", fix)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
