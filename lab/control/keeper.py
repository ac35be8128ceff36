"""``python -m lab.control.keeper STATE``: the lab's own controller; ends when the lab is gone."""

import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
from lightkube import ApiError, Client

from lab.control import addresses, kubernetes
from lab.control.layout import Layout
from lab.control.monitors.feed import Feed
from lab.control.state import load
from lab.control.supervise import Supervisor

_SUPERVISE_SECONDS = 0.5
_FEED_SECONDS = 2.0
_ADDRESS_SECONDS = 2.0


def main(root: Path) -> None:
    """Supervises in the main thread; health, Prometheus' feed and addresses have their own."""
    layout = Layout(root)
    state = load(layout)
    if state is None:
        return
    server = ThreadingHTTPServer(("127.0.0.1", state.ports["keeper"]), _Well)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    feed = Feed(layout, say)
    for look, seconds in ((_fed(layout, feed), _FEED_SECONDS), (_addressed, _ADDRESS_SECONDS)):
        threading.Thread(target=_repeat, args=(layout, look, seconds), daemon=True).start()
    supervisor = Supervisor(layout, "keeper")
    while load(layout) is not None:
        for name in supervisor.look():
            say(f"{name} had ended; started again")
        time.sleep(_SUPERVISE_SECONDS)


def say(text: str) -> None:
    """One line for the log."""
    sys.stdout.write(f"{datetime.now().astimezone().isoformat(timespec='milliseconds')} {text}\n")
    sys.stdout.flush()


class _Well(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Says that the process lives."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the signature of http.server
        """Nothing: a log of health checks helps nobody."""


def _fed(layout: Layout, feed: Feed) -> Callable[[Client], None]:
    def look(to: Client) -> None:
        state = load(layout)
        if state is not None and "prometheus" in state.running:
            feed.look(to, state)

    return look


def _addressed(to: Client) -> None:
    for line in addresses.look(to):
        say(line)


def _repeat(layout: Layout, look: Callable[[Client], None], seconds: float) -> None:
    """For ever; an API server that does not answer is waited for, and said once."""
    heard = True
    while True:
        try:
            with kubernetes.client(layout.kubeconfig) as to:
                while True:
                    look(to)
                    heard = True
                    time.sleep(seconds)
        except (ApiError, httpx2.HTTPError) as error:
            if heard:
                say(f"the API server does not answer: {error}")
            heard = False
            time.sleep(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
