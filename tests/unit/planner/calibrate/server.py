"""A small server that imitates an engine: so many requests at a time, each for so many seconds."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Engine:
    """How it behaves and what it saw."""

    slots: int = 4
    seconds: float = 0.02
    status: int = 200
    error_event: bool = False
    usage: bool = True
    tokens_a_word: int = 1
    bodies: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    paths: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    address: str = ""


@contextmanager
def serving(engine: Engine) -> Generator[Engine]:
    """Serve it on a free loopback port; `engine.address` is set."""
    slots = threading.Semaphore(engine.slots)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            engine.bodies.append(body)
            engine.paths.append(self.path)
            engine.keys.append(self.headers.get("Authorization", ""))
            self.send_response(engine.status)
            self.end_headers()
            if engine.status != 200:
                self.wfile.write(b'{"error": "told to"}')
                return
            with slots:
                if engine.error_event:
                    self._event({"error": {"code": 503}})
                    return
                self._event({"choices": [{"text": "a"}]})
                time.sleep(engine.seconds)
                for _ in range(body["max_tokens"] - 1):
                    self._event({"choices": [{"text": "b"}]})
                if engine.usage:
                    prompt = len(body["prompt"].split()) * engine.tokens_a_word
                    self._event(
                        {
                            "choices": [],
                            "usage": {"prompt_tokens": prompt, "completion_tokens": body["max_tokens"]},
                        }
                    )
                self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, document: object) -> None:
            self.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    engine.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield engine
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
