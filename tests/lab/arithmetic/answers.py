"""A Prometheus that answers each query with what a test says."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BROKEN = "broken"
EMPTY = ""


@contextmanager
def prometheus(values: Mapping[str, str]) -> Generator[str]:
    """Its address. ``values``: the sample of a query's only series, EMPTY for no series, BROKEN for a 500."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            (query,) = parse_qs(urlsplit(self.path).query)["query"]
            sample = values[query]
            one: dict[str, object] = {"metric": {}, "value": [0, sample]}
            series = [one] if sample else []
            body = json.dumps(
                {"status": "success", "data": {"resultType": "vector", "result": series}}
            ).encode()
            self.send_response(500 if sample == BROKEN else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
