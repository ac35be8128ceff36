"""Brings components up in waves: each as soon as all that it needs are well."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lab.control import health, process
from lab.control.component import Component
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.state import Running, State, save

Progress = Callable[[str, str], None]
"""Told a component's name and its step: "starting", "well" or "kept" (it was well already)."""


def quiet(component: str, step: str) -> None:
    """A progress that shows nothing."""
    del component, step


_TAIL_LINES = 15
_LOOK_SECONDS = 0.05


def bring_up(
    layout: Layout,
    state: State,
    components: Iterable[Component],
    needs: Mapping[str, tuple[str, ...]],
    when_well: Callable[[str], None],
    progress: Progress,
) -> None:
    """Starts what does not run or changed, keeps the rest, returns when all are well.

    ``when_well`` is called once a component is well and before anything that needs it starts. The state is saved
    at each start, so that an interrupted ``up`` leaves nothing unknown behind. Raises LabError.
    """
    pending = {component.name: component for component in components}
    starting: dict[str, tuple[Component, float]] = {}
    well: set[str] = set()
    while pending or starting:
        for name in [name for name in pending if well.issuperset(needs.get(name, ()))]:
            component = pending.pop(name)
            kept = start(layout, state, component)
            progress(name, "kept" if kept else "starting")
            starting[name] = (component, time.monotonic() + component.health.seconds)
        for name, (component, deadline) in list(starting.items()):
            if health.is_well(component.health):
                del starting[name]
                when_well(name)
                well.add(name)
                progress(name, "well")
            elif process.find(state.running[name].identity) is None:
                raise LabError(f"{name} ended while it was starting.\n{tail(layout.log(name))}")
            elif time.monotonic() > deadline:
                raise LabError(
                    f"{name} is not well after {component.health.seconds:.0f} s ({component.health.url}).\n"
                    f"{tail(layout.log(name))}"
                )
        time.sleep(_LOOK_SECONDS)


def start(layout: Layout, state: State, component: Component) -> bool:
    """Starts a component unless the very same runs already; True when it was kept. Saves the state."""
    known = state.running.get(component.name)
    if known is not None and known.component == component and process.find(known.identity):
        known.wanted = True
        save(layout, state)
        return True
    if known is not None:
        process.stop((known.identity, known.component.grace))
    restarts = known.restarts if known else 0
    state.running[component.name] = Running(component=component, restarts=restarts)
    # Saved before and after: killed in between, the next `up` finds a component without a process.
    save(layout, state)
    state.running[component.name].identity = process.start(component, layout.log(component.name))
    save(layout, state)
    return False


def tail(log: Path) -> str:
    """The end of a log, for an error."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join([f"Log: {log}", *lines[-_TAIL_LINES:]])
