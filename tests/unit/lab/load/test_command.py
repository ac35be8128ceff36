"""`headroom lab load`: refusals before anything is sent, an interrupt that ends with a summary."""

import asyncio
import os
import signal
import sys
import threading
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from rich.console import Console

from cli.__main__ import main
from lab.load import Asking, Closed, Load, watched
from tests.unit.lab.load.servers import chunk, hang, named, serving


def _refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["headroom", "lab", "load", *words])
    assert main() == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_all_that_is_wrong_with_a_load_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _refused(monkeypatch, capsys, "--clients", "0", "--stream", "3", "--minutes", "-1")
    assert [line.split(":")[0] for line in said.splitlines()] == ["stream", "minutes", "clients"]


def test_without_a_lab_the_way_out_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = _refused(monkeypatch, capsys, "--requests", "1", "--state", str(tmp_path / "none"))
    assert "headroom lab up" in said


def test_an_interrupt_gives_up_what_is_in_flight_and_keeps_the_books() -> None:
    async def stream(request: web.Request, body: dict[str, Any], response: web.StreamResponse) -> None:
        await response.write(chunk(named(request)))
        await hang()

    ready, over = threading.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with serving(stream) as url:
            urls.append(url)
            ready.set()
            await asyncio.to_thread(over.wait)

    server = threading.Thread(target=lambda: asyncio.run(serve()))
    server.start()
    try:
        assert ready.wait(20)
        load = Load(urls, "m", Closed(clients=3, seconds=100), asking=Asking(stream_share=1.0))

        def interrupt() -> None:
            while load.counts.first_token.count < 3:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        result, interrupted = watched(load, Console(file=StringIO(), force_terminal=True))
    finally:
        over.set()
        server.join()
    assert interrupted
    assert (result.sent, result.abandoned, result.lost) == (3, 3, 0)
