"""The fleet's own HTTP side: health, what runs, and accidents on demand."""

from aiohttp import web

from lab.fleet.fleet import Fleet
from lab.fleet.life import PodLife


class Control:
    """GET /healthz and /pods; POST /pods/NAMESPACE/NAME/freeze, .../crash and /nodes/NAME/power-off."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def application(self) -> web.Application:
        """The routes."""
        made = web.Application()
        made.add_routes(
            [
                web.get("/healthz", self._healthy),
                web.get("/pods", self._pods),
                web.post("/pods/{namespace}/{name}/freeze", self._freeze),
                web.post("/pods/{namespace}/{name}/crash", self._crash),
                web.post("/nodes/{name}/power-off", self._power_off),
            ]
        )
        return made

    async def _healthy(self, request: web.Request) -> web.Response:
        del request
        return web.Response()

    async def _pods(self, request: web.Request) -> web.Response:
        del request
        return web.json_response([_told(life) for life in self._fleet.lives.values()])

    async def _freeze(self, request: web.Request) -> web.Response:
        life = self._found(request)
        if life.workload is not None:
            life.workload.freeze()
        return web.json_response(_told(life))

    async def _crash(self, request: web.Request) -> web.Response:
        life = self._found(request)
        if life.workload is not None:
            await life.workload.kill()
        return web.json_response(_told(life))

    async def _power_off(self, request: web.Request) -> web.Response:
        killed, requests = await self._fleet.power_off(request.match_info["name"])
        return web.json_response({"killed": killed, "requests": requests})

    def _found(self, request: web.Request) -> PodLife:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        life = self._fleet.find(namespace, name)
        if life is None:
            raise web.HTTPNotFound(text=f"The fleet leads no pod {namespace}/{name}; GET /pods lists them.")
        return life


def _told(life: PodLife) -> dict[str, object]:
    pod, workload = life.pod, life.workload
    return {
        "namespace": pod.namespace,
        "name": pod.name,
        "node": pod.node,
        "address": pod.address,
        "role": pod.container.role,
        "running": workload is not None and not workload.exited.done(),
        "ready": life.ready,
        "load": workload.load if workload is not None else 0,
        "restarts": life.restarts,
    }
