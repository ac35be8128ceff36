"""What runs in a container, seen as a process; and the simplest one."""

import asyncio
from typing import Protocol


class Workload(Protocol):
    """A process: ``exited`` is its exit code, once there is one."""

    exited: asyncio.Future[int]

    @property
    def load(self) -> int:
        """Requests in flight, where it serves any."""
        ...

    def terminate(self) -> None:
        """SIGTERM."""
        ...

    async def kill(self) -> None:
        """SIGKILL; returns when it is dead."""
        ...

    def freeze(self) -> None:
        """It answers nothing from now on, and lives."""
        ...


class Idle:
    """A container that waits for its end, such as the one that keeps an image on a node."""

    def __init__(self) -> None:
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.load = 0

    def terminate(self) -> None:
        """Ends at once."""
        self._end(0)

    async def kill(self) -> None:
        """Ends at once."""
        self._end(137)

    def freeze(self) -> None:
        """Nothing to freeze."""

    def _end(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)
