"""The fleet's dealings with the API server: status, the end of a pod, the type of a node."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
from lightkube import ApiError, AsyncClient

from lab.control import kubernetes
from lab.fleet.pods import Pod

POD = kubernetes.resource("", "v1", "Pod", "pods")
NODE = kubernetes.resource("", "v1", "Node", "nodes", namespaced=False)
_TYPE = "node.kubernetes.io/instance-type"
_PAUSE_SECONDS = 0.5
_GONE = {404, 409}
"""Gone, or another pod of the same name."""


class Cluster:
    """Repeats what fails until the API server answers; an API server that is away delays, and loses nothing."""

    def __init__(self, client: AsyncClient, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._types: dict[str, str] = {}

    async def tell(self, pod: Pod, body: Mapping[str, Any]) -> None:
        """Patches a pod's status; nothing when the pod is gone."""

        async def patch() -> None:
            await self._client.patch(POD.Status, pod.name, body, namespace=pod.namespace)

        await self._insist(patch)

    async def finish(self, pod: Pod) -> None:
        """Takes the pod's object away, as a kubelet does once all containers are dead."""

        async def delete() -> None:
            await self._client.delete(POD, pod.name, namespace=pod.namespace, grace_period=0)

        await self._insist(delete)

    async def instance_type(self, node: str) -> str:
        """The node's instance type; empty when it has none or is gone."""
        if node not in self._types:
            found: list[Any] = []

            async def get() -> None:
                found.append(await self._client.get(NODE, node))

            await self._insist(get)
            labels: Mapping[str, str] = (found[0]["metadata"].get("labels") if found else None) or {}
            self._types[node] = labels.get(_TYPE, "")
        return self._types[node]

    async def _insist(self, act: Callable[[], Any]) -> None:
        said = False
        while True:
            try:
                return await act()
            except ApiError as error:
                if error.status.code in _GONE:
                    return None
                reason: Exception = error
            except httpx2.HTTPError as error:
                reason = error
            if not said:
                self._say(f"the API server does not take it, trying on: {reason!r}")
            said = True
            await asyncio.sleep(_PAUSE_SECONDS)
