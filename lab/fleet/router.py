"""The real vllm-router of a router pod: a process at the pod's address with the pod's own arguments."""

import asyncio
import ctypes
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path

from lab.control.process import environment

_ADDRESSES = ("--host", "--prometheus-host")
_PR_SET_PDEATHSIG = 1


def router_words(words: Sequence[str], address: str) -> list[str]:
    """The pod's arguments, listening on the pod's address alone instead of everywhere."""
    kept: list[str] = []
    skipping = False
    for word in words:
        if skipping:
            skipping = False
        elif word in _ADDRESSES:
            skipping = True
        elif word.partition("=")[0] not in _ADDRESSES:
            kept.append(word)
    return [*kept, *(part for flag in _ADDRESSES for part in (flag, address))]


class RouterProcess:
    """``exited`` is the exit code, 128 and the signal's number where one ended it. It ends with the fleet."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting = asyncio.create_task(self._wait())
        self.load = 0

    @classmethod
    async def start(cls, words: Sequence[str], address: str, kubeconfig: Path, log: Path) -> "RouterProcess":
        """Starts it, its output appended to ``log``."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "vllm_router.launch_router"),
                *router_words(words, address),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment({"KUBECONFIG": str(kubeconfig)}),
                preexec_fn=_die_with_parent,
            )
        return cls(process)

    def terminate(self) -> None:
        """SIGTERM; it waits for held requests without a limit (vllm-router 0.1.17)."""
        self._signal(signal.SIGTERM)

    async def kill(self) -> None:
        """SIGKILL."""
        self._signal(signal.SIGKILL)
        await asyncio.shield(self._waiting)

    def freeze(self) -> None:
        """SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            self._process.send_signal(number)

    async def _wait(self) -> None:
        code = await self._process.wait()
        self.exited.set_result(code if code >= 0 else 128 - code)


def _die_with_parent() -> None:
    # A fleet that is killed leaves no router behind (prctl(2); Linux alone has the lab's pod addresses anyway).
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
