"""The status of a lab."""

import http.server
import json
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from rich.console import Console

from lab.control import process
from lab.control.component import Component, Health
from lab.control.layout import Layout
from lab.control.report import status, table
from lab.control.state import Running, State, save


class _Well(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Well."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def well() -> Generator[Health]:
    """A health that answers 200."""
    with http.server.HTTPServer(("127.0.0.1", 0), _Well) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Health(url=f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()


@pytest.fixture
def lab(tmp_path: Path, well: Health) -> Generator[Callable[[str], Path]]:
    """A lab with one component in the asked condition."""
    layout = Layout(tmp_path / "lab")
    layout.logs.mkdir(parents=True)
    unwell = Health(url="http://127.0.0.1:9/")
    ending: list[process.Identity] = []

    def make(condition: str) -> Path:
        health = well if condition == "well" else unwell
        component = Component(name="etcd", argv=("/bin/sleep", "60"), health=health)
        running = Running(component=component, wanted=condition != "stopped")
        if condition in ("well", "unwell"):
            running.identity = process.start(component, layout.log("etcd"))
            ending.append(running.identity)
        save(layout, State(running={"etcd": running}))
        return layout.root

    yield make
    process.stop(*((identity, 0.0) for identity in ending))


@pytest.mark.parametrize(
    ("condition", "up"), [("well", True), ("unwell", False), ("dead", False), ("stopped", True)]
)
def test_each_condition_is_told_apart(lab: Callable[[str], Path], condition: str, up: bool) -> None:
    found = status(lab(condition))
    assert [one.condition for one in found.components] == [condition]
    assert found.up is up


def test_it_is_plain_data_and_a_table(lab: Callable[[str], Path]) -> None:
    found = status(lab("well"))
    plain = json.loads(json.dumps(found.as_json()))
    assert set(plain) == {"up", "state_dir", "kubeconfig", "components"}
    assert plain["components"][0]["rss_bytes"] > 0
    console = Console(width=120, record=True)
    console.print(table(found))
    assert "etcd" in console.export_text()


def test_a_folder_without_a_lab_is_not_up(tmp_path: Path) -> None:
    found = status(tmp_path)
    assert not found.up
    assert found.components == ()
