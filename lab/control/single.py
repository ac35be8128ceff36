"""One component of a running lab at a time: outages on purpose, crashes, and components of one's own."""

from pathlib import Path

from lab.control import process
from lab.control.component import Component
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.starting import bring_up, quiet
from lab.control.state import Running, State, loaded, locked, save


def add(state_dir: Path, component: Component) -> None:
    """Starts a component of one's own (a router, say), keeps it as part of the lab, waits until it is well."""
    layout = Layout(state_dir.absolute())
    with locked(layout):
        _bring_up(layout, loaded(layout), component)


def stop(state_dir: Path, name: str) -> None:
    """Ends one component on purpose, as an outage: it stays down until ``resume`` or an ``up`` that names it."""
    layout = Layout(state_dir.absolute())
    with locked(layout):
        state = loaded(layout)
        running = _known(layout, state, name)
        running.wanted = False
        save(layout, state)
        process.stop((running.identity, running.component.grace))


def resume(state_dir: Path, name: str) -> None:
    """Starts a stopped component again, as it was, and waits until it is well."""
    layout = Layout(state_dir.absolute())
    with locked(layout):
        state = loaded(layout)
        _bring_up(layout, state, _known(layout, state, name).component)


def kill(state_dir: Path, name: str) -> bool:
    """SIGKILL for one component, as a crash: the keeper starts it again. Whether there was a process to kill."""
    layout = Layout(state_dir.absolute())
    return process.kill(_known(layout, loaded(layout), name).identity)


def remove(state_dir: Path, name: str) -> None:
    """Ends one component and forgets it; does nothing when the lab has none of that name."""
    layout = Layout(state_dir.absolute())
    with locked(layout):
        state = loaded(layout)
        running = state.running.pop(name, None)
        if running is not None:
            process.stop((running.identity, running.component.grace))
            save(layout, state)


def _bring_up(layout: Layout, state: State, component: Component) -> None:
    bring_up(layout, state, [component], {}, _nothing, quiet)


def _nothing(name: str) -> None:
    del name


def _known(layout: Layout, state: State, name: str) -> Running:
    if name not in state.running:
        has = ", ".join(state.running) or "none"
        raise LabError(f"The lab in {layout.root} has no component {name!r}. It has: {has}.")
    return state.running[name]
