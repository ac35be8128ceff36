"""What died is started again, what was stopped on purpose is not."""

from pathlib import Path

import pytest

from lab.control import process
from lab.control.component import Component, Health
from lab.control.layout import Layout
from lab.control.single import kill, stop
from lab.control.state import Running, State, loaded, locked, save
from lab.control.supervise import Supervisor

SLEEP = Component(name="x", argv=("/bin/sleep", "60"), health=Health(url="http://127.0.0.1:9/"))


@pytest.fixture
def layout(tmp_path: Path):
    """A lab with one component that sleeps."""
    made = Layout(tmp_path / "lab")
    made.logs.mkdir(parents=True)
    save(made, State(running={"x": Running(component=SLEEP, identity=process.start(SLEEP, made.log("x")))}))
    yield made
    state = loaded(made)
    process.stop((state.running["x"].identity, 0.0))


def test_a_killed_component_is_started_again_and_counted(layout: Layout) -> None:
    supervisor = Supervisor(layout, "keeper")
    assert supervisor.look() == []
    assert kill(layout.root, "x")
    while not supervisor.look():
        pass
    running = loaded(layout).running["x"]
    assert process.find(running.identity) is not None
    assert running.restarts == 1


def test_one_that_was_stopped_on_purpose_stays_down(layout: Layout) -> None:
    stop(layout.root, "x")
    assert Supervisor(layout, "keeper").look() == []
    assert process.find(loaded(layout).running["x"].identity) is None


def test_nothing_is_started_while_a_command_changes_the_lab(layout: Layout) -> None:
    process.stop((loaded(layout).running["x"].identity, 0.0))
    with locked(layout):
        assert Supervisor(layout, "keeper").look() == []


def test_a_component_that_dies_at_once_is_not_started_in_a_tight_loop(layout: Layout) -> None:
    process.stop((loaded(layout).running["x"].identity, 0.0))
    supervisor = Supervisor(layout, "keeper")
    assert supervisor.look() == ["x"]
    process.stop((loaded(layout).running["x"].identity, 0.0))
    assert supervisor.look() == []
