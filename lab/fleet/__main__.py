"""``python -m lab.fleet STATE``: all simulated engines of a lab, until SIGTERM."""

import asyncio
import signal
import sys
from datetime import datetime
from pathlib import Path

import aiohttp
from aiohttp import web
from lightkube import AsyncClient, KubeConfig

from lab.control.errors import LabError
from lab.control.kubernetes import MANAGER
from lab.control.plane import attach
from lab.fleet.component import CONTROL_PORT, config_path, control_address
from lab.fleet.control import Control
from lab.fleet.fleet import Fleet
from lab.fleet.settings import Told


def say(text: str) -> None:
    """One line for the log."""
    sys.stdout.write(f"{datetime.now().astimezone().isoformat(timespec='milliseconds')} {text}\n")
    sys.stdout.flush()


async def main(state_dir: Path) -> None:
    """Leads the lab's own pods until SIGTERM or SIGINT. Without a settings file the defaults hold."""
    plane = attach(state_dir)
    settings = Told(config_path(plane.layout))
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    client = AsyncClient(
        config=KubeConfig.from_file(plane.kubeconfig), field_manager=MANAGER, trust_env=False
    )
    # A kubelet opens a new connection for each probe.
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True, limit=0)) as session:
        fleet = Fleet(client, session, settings, plane.layout, say)
        runner = web.AppRunner(Control(fleet).application(), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, control_address(plane.pods), CONTROL_PORT).start()
        following, stop = asyncio.create_task(fleet.run()), asyncio.create_task(ended.wait())
        await asyncio.wait({following, stop}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
        following.cancel()
        await fleet.close()
        await runner.cleanup()
    await client.close()


if __name__ == "__main__":
    try:
        asyncio.run(main(Path(sys.argv[1])))
    except LabError as error:
        sys.exit(str(error))
