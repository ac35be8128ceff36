"""All pods of a lab that the fleet leads: found by a watch, started by their role, told apart by node."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx2
from lightkube import ApiError, AsyncClient

from lab.control.layout import Layout
from lab.fleet.arguments import engine_options
from lab.fleet.cluster import POD, Cluster
from lab.fleet.engine import Conduct, EngineProcess
from lab.fleet.life import PodLife
from lab.fleet.pods import Body, Pod, own
from lab.fleet.router import RouterProcess
from lab.fleet.settings import FleetSettings
from lab.fleet.workload import Idle, Workload

_PAUSE_SECONDS = 0.5
ROUTER_IMAGE_SECONDS = 5.0
"""A small image on a node that stays: a rough figure, no stage of the plan."""
_OVER = {"Succeeded", "Failed"}


class Fleet:
    """``lives`` by pod uid. ``settings`` are asked for each time something begins."""

    def __init__(
        self,
        client: AsyncClient,
        session: aiohttp.ClientSession,
        settings: Callable[[], FleetSettings],
        layout: Layout,
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._session = session
        self._settings = settings
        self._layout = layout
        self._say = say
        self._cluster = Cluster(client, say)
        self._pulls: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._dead_nodes: set[str] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self.lives: dict[str, PodLife] = {}

    async def run(self) -> None:
        """Follows the pods for ever; what was missed while the API server was away is made up for."""
        heard = True
        while True:
            try:
                listed = self._client.list(POD, namespace="*")
                present: set[str] = set()
                async for body in listed:
                    present.add(body["metadata"]["uid"])
                    self.see(body)
                for uid in self.lives.keys() - present:
                    self._gone(uid)
                heard = True
                version = listed.resourceVersion
                async for event, body in self._client.watch(POD, namespace="*", resource_version=version):
                    if event == "DELETED":
                        self._gone(body["metadata"]["uid"])
                    else:
                        self.see(body)
            except (ApiError, httpx2.HTTPError) as error:
                if heard:
                    self._say(f"the API server does not answer: {error!r}")
                heard = False
                await asyncio.sleep(_PAUSE_SECONDS)

    async def close(self) -> None:
        """Kills everything, without a word to the API server: the process ends."""
        await asyncio.gather(*(life.cut() for life in self.lives.values()))

    def see(self, body: Body) -> None:
        """A pod as the API server has it now."""
        pod = own(body, self._settings().own_images)
        if pod is None or pod.node in self._dead_nodes:
            return
        life = self.lives.get(pod.uid)
        if life is not None and pod.address not in ("", life.pod.address):
            # kwok 0.8 gives an address twice when it hears late of the first: all begins anew at the second.
            self._gone(pod.uid)
            life = None
        if life is not None:
            life.update(pod)
        elif pod.deleting:
            # Deleted before it had begun, or over: nothing runs that could be waited for.
            self._later(self._cluster.finish(pod))
        elif pod.address and pod.phase not in _OVER:
            factor = self._settings().factor
            self.lives[pod.uid] = PodLife(pod, self._cluster, self._session, self._start, self._pull, factor)

    async def power_off(self, node: str) -> tuple[int, int]:
        """A node dies without notice: its pods are cut and nothing is told any more. How many died, and how many
        requests were in their engines then.
        """
        self._dead_nodes.add(node)
        dying = {uid: life for uid, life in self.lives.items() if life.pod.node == node}
        for uid in dying:
            del self.lives[uid]
        await asyncio.gather(*(life.cut() for life in dying.values()))
        # An engine that was killed holds for ever what it held when its power went.
        return len(dying), sum(life.workload.load for life in dying.values() if life.workload is not None)

    def find(self, namespace: str, name: str) -> PodLife | None:
        """The life of a pod by its name."""
        lives = self.lives.values()
        return next((one for one in lives if (one.pod.namespace, one.pod.name) == (namespace, name)), None)

    def _gone(self, uid: str) -> None:
        life = self.lives.pop(uid, None)
        if life is not None:
            self._later(life.cut())

    def _later(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def _pull(self, pod: Pod) -> None:
        """Pulls the image once a node, as long as the plan says; who comes meanwhile waits for the same pull."""
        if pod.ran:
            return
        key = (pod.node, pod.container.image)
        if key not in self._pulls:
            seconds = self._image_seconds(pod) * self._settings().factor
            self._pulls[key] = asyncio.create_task(asyncio.sleep(seconds))
        await asyncio.shield(self._pulls[key])

    def _image_seconds(self, pod: Pod) -> float:
        settings = self._settings()
        if pod.container.role == "engine":
            try:
                options = engine_options(pod.container.words, pod.container.environment)
            except ValueError:
                return 0.0
            return settings.timing(pod.namespace, options.model_name).image
        if pod.container.role == "router":
            return ROUTER_IMAGE_SECONDS
        known = [timing.image for timing in settings.models.values()]
        return max(known, default=settings.unknown.image)

    async def _start(self, pod: Pod, restarts: int) -> Workload:
        container = pod.container
        if container.role == "idle":
            return Idle()
        if container.role == "router":
            log = self._layout.log(f"router-{pod.namespace}-{pod.name}")
            return await RouterProcess.start(container.words, pod.address, self._layout.kubeconfig, log)
        options = engine_options(container.words, container.environment)
        settings = self._settings()
        timing = settings.timing(pod.namespace, options.model_name)
        model = timing.engines.get(await self._cluster.instance_type(pod.node), timing.engine)
        chance = random.Random(f"{pod.uid}/{restarts}")  # noqa: S311 - luck, no secret
        conduct = Conduct(
            start=(timing.weights + timing.start) * settings.factor,
            exit=settings.exit_seconds * settings.factor,
            abort=settings.abort_seconds * settings.factor,
            hangs=chance.random() < settings.hang_share,
        )
        return EngineProcess(pod.address, options, model, timing, conduct)
