"""A moto server over real HTTP on a free loopback port, with faults and with answers that moto lacks."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True)
class Request:
    """What a rule sees of a request."""

    method: str
    path: str
    query: str
    target: str
    """X-Amz-Target of JSON services."""
    authorization: str
    body: Callable[[], bytes]
    """The body; reading it takes it away from moto, which gets it back."""

    @property
    def action(self) -> str:
        """Action of query services such as EC2 and IAM."""
        text = self.body().decode("latin-1")
        return next((part[7:] for part in text.split("&") if part.startswith("Action=")), "")


@dataclass
class Rule:
    """Requests that match are answered here; `times` of them, or all."""

    matches: Callable[[Request], bool]
    status: int = 200
    content: bytes = b""
    kind: str = "application/json"
    delay: float = 0.0
    cut: bool = False
    """Close the connection without an answer."""
    times: int = 1_000_000
    headers: tuple[tuple[str, str], ...] = ()

    def answer(self, request: Request) -> bytes:
        """What is answered; a rule may look at the request."""
        del request
        return self.content


@dataclass
class Server:
    """The running server: its address, the rules in force and the requests seen as `METHOD path?query`."""

    address: str
    rules: list[Rule] = field(default_factory=list[Rule])
    seen: list[str] = field(default_factory=list[str])

    def sent_bodies(self, word: str) -> int:
        """How many PUT requests with `word` in their query or path have been seen."""
        return sum(entry.startswith("PUT ") and word in entry for entry in self.seen)


class Front:
    """Rules before moto."""

    def __init__(self, inner: Wsgi) -> None:
        self.inner = inner
        self.server: Server | None = None
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        assert self.server is not None
        request = self._request(environ)
        with self._lock:
            self.server.seen.append(f"{request.method} {request.path}?{request.query}")
            rule = self._rule(request)
        if rule is None:
            return self.inner(environ, start)
        time.sleep(rule.delay)
        if rule.cut:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            return []
        if rule.status == 0:
            return self.inner(environ, start)
        request.body()
        content = rule.answer(request)
        headers = [("Content-Type", rule.kind), ("Content-Length", str(len(content))), *rule.headers]
        start(f"{rule.status} answered", headers)
        return [] if request.method == "HEAD" else [content]

    def _rule(self, request: Request) -> Rule | None:
        assert self.server is not None
        for rule in self.server.rules:
            if rule.times > 0 and rule.matches(request):
                rule.times -= 1
                return rule
        return None

    @staticmethod
    def _request(environ: dict[str, Any]) -> Request:
        def body() -> bytes:
            if "headroom.body" not in environ:
                length = int(environ.get("CONTENT_LENGTH") or 0)
                environ["headroom.body"] = environ["wsgi.input"].read(length)
                environ["wsgi.input"] = io.BytesIO(environ["headroom.body"])
            return environ["headroom.body"]

        return Request(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"],
            environ["QUERY_STRING"],
            environ.get("HTTP_X_AMZ_TARGET", ""),
            environ.get("HTTP_AUTHORIZATION", ""),
            body,
        )
