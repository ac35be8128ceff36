"""Callers' keys: the router passes what the caller sends on to the engine, which refuses who has none.

The engine here is a stand-in that checks a key as vLLM's server does with VLLM_API_KEY set: paths under /v1 alone, so
that probes and metrics stay open (vllm entrypoints/openai, AuthenticationMiddleware).
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from lab.control.ports import choose, release
from specs.router import policy_args
from tests.unit.specs.stack import only, settings

KEY = "Bearer caller-7"
PROMPT: dict[str, object] = {"prompt": "hello"}
CHAT: dict[str, object] = {"messages": [{"role": "user", "content": "hello"}]}


class Engine(BaseHTTPRequestHandler):
    """Answers whoever has the key, and remembers nobody."""

    def do_GET(self) -> None:
        self._answer(200 if not self.path.startswith("/v1") else 401)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(200 if self.headers.get("Authorization") == KEY else 401)

    def _answer(self, status: int) -> None:
        text = b'{"choices": [{"text": "hi"}]}' if status == 200 else b'{"error": "Unauthorized"}'
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Silent."""


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The real router with the program's own arguments, in front of one engine."""
    engine = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    folder = tmp_path_factory.mktemp("router")
    ports, log = choose(folder, ["router", "metrics"], {}), folder / "log"
    address = f"http://127.0.0.1:{ports['router']}"
    found = settings()
    argv = [
        sys.executable,
        "-m",
        "vllm_router.launch_router",
        "--host",
        "127.0.0.1",
        "--port",
        str(ports["router"]),
    ]
    argv += ["--prometheus-host", "127.0.0.1", "--prometheus-port", str(ports["metrics"])]
    argv += ["--worker-urls", f"http://127.0.0.1:{engine.server_port}", *policy_args(found, only(found))]
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out)
    try:
        _wait(f"{address}/liveness", log)
        yield address
    finally:
        process.kill()
        process.wait()
        engine.shutdown()
        engine.server_close()
        release(folder)


def _wait(url: str, log: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(httpx2.TransportError):
            if httpx2.get(url).status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail(log.read_text(errors="replace")[-2000:])


def asked(router: str, path: str, said: dict[str, object], headers: dict[str, str]) -> httpx2.Response:
    return httpx2.post(router + path, json={"model": "llama3-8b", **said}, headers=headers, timeout=30)


@pytest.mark.parametrize(("path", "said"), [("/v1/completions", PROMPT), ("/v1/chat/completions", CHAT)])
def test_a_caller_with_the_key_is_served(router: str, path: str, said: dict[str, object]) -> None:
    answer = asked(router, path, said, {"Authorization": KEY})
    assert (answer.status_code, answer.json()["choices"][0]["text"]) == (200, "hi")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guessed"}])
def test_a_caller_without_it_is_refused_by_the_engine_at_once(router: str, headers: dict[str, str]) -> None:
    """Not retried until the first start's patience ends: 401 is an answer."""
    assert asked(router, "/v1/completions", PROMPT, headers).status_code == 401
