"""All pods together: which lives the fleet leads as the API server's news comes in."""

import asyncio
from pathlib import Path
from typing import Any, cast

import aiohttp
from aiohttp import web

from lab.control.layout import Layout
from lab.fleet.fleet import Fleet
from lab.fleet.settings import FleetSettings
from tests.unit.lab.fleet.engines import play


class Api:
    """Takes every patch; ``ready`` is set once a pod was told to be ready."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()

    async def patch(self, kind: Any, name: str, body: Any, *, namespace: str) -> None:
        """Reads the pod's Ready condition."""
        del kind, name, namespace
        found = {one["type"]: one["status"] for one in body["status"]["conditions"]}
        if found["Ready"] == "True":
            self.ready.set()


def _pod(address: str, port: int) -> dict[str, Any]:
    container = {
        "name": "engine",
        "image": "vllm/pause:1",
        "command": ["sleep", "infinity"],
        "readinessProbe": {"httpGet": {"port": port, "path": "/"}, "periodSeconds": 0.01},
    }
    return {
        "metadata": {"namespace": "default", "name": "pod", "uid": "1"},
        "spec": {"nodeName": "node", "containers": [container]},
        "status": {"phase": "Pending", "podIP": address},
    }


def test_a_pod_that_is_given_a_second_address_becomes_ready_there(tmp_path: Path) -> None:
    async def hello(request: web.Request) -> web.Response:
        return web.Response()

    async def scene() -> None:
        application = web.Application()
        application.router.add_get("/", hello)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.3", 0)
        await site.start()
        api, port = Api(), runner.addresses[0][1]
        async with aiohttp.ClientSession() as session:
            fleet = Fleet(cast(Any, api), session, lambda: FleetSettings(factor=0.0), Layout(tmp_path), print)
            fleet.see(_pod("127.0.0.2", port))
            await asyncio.sleep(0)
            fleet.see(_pod("127.0.0.3", port))
            await api.ready.wait()
            assert [life.pod.address for life in fleet.lives.values()] == ["127.0.0.3"]
            await fleet.close()
        await runner.cleanup()

    play(scene())
