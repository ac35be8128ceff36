"""The kubelet's part: what the API server is told, when containers end, and what ends them."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import aiohttp

from lab.fleet.cluster import Cluster
from lab.fleet.life import PodLife
from lab.fleet.pods import Container, Pod
from lab.fleet.workload import Workload
from tests.unit.lab.fleet.engines import play

CONTAINER = Container(
    name="engine",
    image="vllm/vllm-openai:v0.33.0",
    role="engine",
    words=(),
    environment={},
    pre_stop=0.0,
    startup=None,
    readiness=None,
    liveness=None,
)
POD = Pod(
    namespace="default",
    name="pod",
    uid="1",
    node="node",
    address="127.0.0.1",
    phase="Pending",
    deleting=False,
    grace=30.0,
    restarts=0,
    ran=False,
    container=CONTAINER,
    images={"engine": CONTAINER.image},
)


class Record:
    """An API server that takes everything."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.finished = asyncio.Event()

    async def tell(self, pod: Pod, body: Mapping[str, Any]) -> None:
        """Keeps a status."""
        assert pod.uid == body["metadata"]["uid"]
        self.told.append(body["status"])

    async def finish(self, pod: Pod) -> None:
        """Notes the end."""
        assert pod.deleting
        self.finished.set()

    @property
    def container(self) -> Any:
        """The container's status as last told."""
        return self.told[-1]["containerStatuses"][0]

    async def until(self, state: str, *, ready: bool = False) -> None:
        """Returns once the container is said to be in a state."""
        while not (self.told and state in self.container["state"] and self.container["ready"] == ready):
            await asyncio.sleep(0.001)


class Process:
    """A process that hears SIGTERM or does not."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.signals: list[str] = []
        self.load = 0
        self._deaf = deaf

    def terminate(self) -> None:
        """SIGTERM."""
        self.signals.append("TERM")
        if not self._deaf:
            self.exited.set_result(0)

    async def kill(self) -> None:
        """SIGKILL."""
        if not self.exited.done():
            self.signals.append("KILL")
            self.exited.set_result(137)

    def freeze(self) -> None:
        """Not of interest here."""


@asynccontextmanager
async def living(pod: Pod, *processes: Process | ValueError) -> AsyncGenerator[tuple[PodLife, Record]]:
    """A pod whose container is one process after the other."""
    record, left = Record(), list(processes)

    async def start(pod: Pod, restarts: int) -> Workload:
        found = left.pop(0)
        if isinstance(found, ValueError):
            raise found
        return found

    async def pull(pod: Pod) -> None:
        return

    async with aiohttp.ClientSession() as session:
        life = PodLife(pod, cast(Cluster, record), session, start, pull, 0.0)
        try:
            yield life, record
        finally:
            await life.cut()


def _deleted(grace: float, **container: Any) -> Pod:
    return replace(POD, deleting=True, grace=grace, container=replace(CONTAINER, **container))


def test_a_container_without_probes_is_ready_as_soon_as_it_runs() -> None:
    async def scene() -> None:
        async with living(POD, Process()) as (_, record):
            await record.until("running", ready=True)
            assert record.told[0]["phase"] == "Running"
            assert record.container["started"] is True

    play(scene())


def test_a_deleted_pod_hears_sigterm_and_its_object_goes() -> None:
    async def scene() -> None:
        process = Process()
        async with living(POD, process) as (life, record):
            await record.until("running", ready=True)
            life.update(_deleted(30))
            await record.finished.wait()
            assert process.signals == ["TERM"]
            assert record.told[-1]["phase"] == "Succeeded"

    play(scene())


def test_a_process_that_ignores_sigterm_is_killed_when_the_grace_is_over() -> None:
    async def scene() -> None:
        process = Process(deaf=True)
        async with living(POD, process) as (life, record):
            await record.until("running", ready=True)
            life.update(_deleted(0.1))
            await record.finished.wait()
            assert process.signals == ["TERM", "KILL"]
            assert record.told[-1]["phase"] == "Failed"
            assert record.container["state"]["terminated"]["exitCode"] == 137

    play(scene())


def test_sigterm_comes_only_after_pre_stop() -> None:
    async def scene() -> None:
        process = Process()
        pod = replace(POD, container=replace(CONTAINER, pre_stop=0.2))
        async with living(pod, process) as (life, record):
            await record.until("running", ready=True)
            life.update(_deleted(30, pre_stop=0.2))
            await asyncio.sleep(0.05)
            assert process.signals == []
            await record.finished.wait()
            assert process.signals == ["TERM"]

    play(scene())


def test_a_second_deletion_with_a_shorter_grace_is_obeyed() -> None:
    async def scene() -> None:
        process = Process(deaf=True)
        async with living(POD, process) as (life, record):
            await record.until("running", ready=True)
            life.update(_deleted(3600))
            await asyncio.sleep(0.05)
            life.update(_deleted(1))
            await record.finished.wait()
            assert process.signals == ["TERM", "KILL"]

    play(scene())


def test_a_process_that_dies_is_started_again() -> None:
    async def scene() -> None:
        first = Process()
        async with living(POD, first, Process()) as (_, record):
            await record.until("running", ready=True)
            await first.kill()
            while record.container["restartCount"] == 0:
                await asyncio.sleep(0.001)
            await record.until("running", ready=True)
            states = [told["containerStatuses"][0]["state"] for told in record.told]
            assert {"waiting": {"reason": "CrashLoopBackOff"}} in states
            assert record.container["lastState"]["terminated"]["exitCode"] == 137

    play(scene())


def test_arguments_that_can_not_start_are_shown_in_the_pod() -> None:
    async def scene() -> None:
        async with living(POD, ValueError("vllm serve: no"), Process()) as (_, record):
            await record.until("running", ready=True)
            messages = [one["containerStatuses"][0]["state"].get("terminated", {}) for one in record.told]
            assert messages[0]["message"] == "vllm serve: no"

    play(scene())


def test_a_pod_whose_engines_ran_under_an_earlier_fleet_counts_a_restart() -> None:
    async def scene() -> None:
        async with living(replace(POD, ran=True, restarts=1), Process()) as (_, record):
            await record.until("running", ready=True)
            assert record.container["restartCount"] == 2

    play(scene())


def test_power_off_tells_nobody() -> None:
    async def scene() -> None:
        process = Process()
        async with living(POD, process) as (life, record):
            await record.until("running", ready=True)
            told = len(record.told)
            await life.cut()
            assert process.signals == ["KILL"]
            assert len(record.told) == told
            assert not record.finished.is_set()

    play(scene())
