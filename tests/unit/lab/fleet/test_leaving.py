"""SIGTERM and SIGKILL, as measured on vLLM 0.32.0."""

import asyncio

import aiohttp
import pytest

from lab.fleet.engine import Conduct
from tests.unit.lab.fleet.engines import SERVING, play, serving

HANGS = Conduct(start=0.0, exit=0.0, abort=0.0, hangs=True)
SLOW_EXIT = Conduct(start=0.0, exit=60.0, abort=0.0)


def test_with_default_flags_what_is_in_flight_ends_with_abort() -> None:
    async def scene() -> None:
        async with serving() as caller:
            stream = asyncio.create_task(caller.stream(2000))
            plain = asyncio.create_task(caller.ask(2000))
            await caller.loaded(2)
            await asyncio.sleep(0.1)
            caller.engine.terminate()
            *_, last, done = await stream
            assert (last["choices"][0]["finish_reason"], done) == ("abort", "[DONE]")
            status, body = await plain
            assert (status, body["choices"][0]["finish_reason"]) == (200, "abort")
            assert await caller.engine.exited == 0

    play(scene())


def test_with_default_flags_a_waiting_stream_ends_without_a_token_or_a_reason() -> None:
    async def scene() -> None:
        async with serving(max_num_seqs=1) as caller:
            first = asyncio.create_task(caller.stream(2000))
            await caller.loaded(1)
            await asyncio.sleep(0.1)
            waiting = asyncio.create_task(caller.stream(2000))
            await caller.loaded(2)
            await asyncio.sleep(0.05)
            caller.engine.terminate()
            assert await waiting == ["[DONE]"]
            await first

    play(scene())


def test_an_unlucky_exit_with_default_flags_hangs_until_it_is_killed() -> None:
    async def scene() -> None:
        async with serving(HANGS) as caller:
            plain = asyncio.create_task(caller.ask(5))
            await caller.loaded(1)
            caller.engine.terminate()
            done, _ = await asyncio.wait({plain, caller.engine.exited}, timeout=0.3)
            assert not done
            await caller.engine.kill()
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await plain
            assert await caller.engine.exited == 137

    play(scene())


def test_a_drain_finishes_what_runs_and_what_waits_and_exits() -> None:
    async def scene() -> None:
        async with serving(shutdown_timeout=30, max_num_seqs=1) as caller:
            asked = [asyncio.create_task(caller.ask(20)) for _ in range(3)]
            await caller.loaded(3)
            caller.engine.terminate()
            for status, body in await asyncio.gather(*asked):
                assert (status, body["choices"][0]["finish_reason"]) == (200, "length")
            assert await caller.engine.exited == 0

    play(scene())


def test_a_draining_engine_is_healthy_and_answers_new_requests_with_500() -> None:
    async def scene() -> None:
        async with serving(SLOW_EXIT, shutdown_timeout=30) as caller:
            caller.engine.terminate()
            await asyncio.sleep(0.01)
            assert (await caller.get("/health"))[0] == 200
            status, body = await caller.ask(5)
            assert status == 500
            assert body["error"]["message"] == "cannot schedule new futures after shutdown"

    play(scene())


def test_requests_that_outlast_the_drain_hang_and_new_ones_are_refused() -> None:
    async def scene() -> None:
        async with serving(shutdown_timeout=0.05) as caller:
            long = asyncio.create_task(caller.stream(5000))
            await caller.loaded(1)
            caller.engine.terminate()
            done, _ = await asyncio.wait({long, caller.engine.exited}, timeout=0.3)
            assert not done
            async with aiohttp.ClientSession() as fresh:
                with pytest.raises(aiohttp.ClientConnectorError):
                    await fresh.get(caller.url + "/health")
            await caller.engine.kill()
            with pytest.raises(aiohttp.ClientPayloadError):
                await long

    play(scene())


def test_a_kill_cuts_streams_in_the_middle() -> None:
    async def scene() -> None:
        async with serving() as caller:
            stream = asyncio.create_task(caller.stream(2000))
            await caller.loaded(1)
            await asyncio.sleep(0.1)
            await caller.engine.kill()
            with pytest.raises(aiohttp.ClientPayloadError):
                await stream

    play(scene())


def test_sigterm_early_in_a_start_ends_it_at_once() -> None:
    async def scene() -> None:
        async with serving(Conduct(start=60, exit=0, abort=0), wait=False) as caller:
            caller.engine.terminate()
            assert await caller.engine.exited == 143

    play(scene())


def test_sigterm_late_in_a_start_is_lost() -> None:
    async def scene() -> None:
        async with serving(Conduct(start=1, exit=0, abort=0), wait=False) as caller:
            await asyncio.sleep(0.3)
            caller.engine.terminate()
            while not caller.engine.serving:
                await asyncio.sleep(0.01)
            assert (await caller.ask(3))[0] == 200
            assert not caller.engine.exited.done()

    play(scene())


def test_an_engine_that_froze_answers_no_probe() -> None:
    async def scene() -> None:
        async with serving(SERVING) as caller:
            caller.engine.freeze()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(caller.get("/health"), 0.2)

    play(scene())
