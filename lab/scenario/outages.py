"""Components that are away for a while, or die and are started again."""

import contextlib
from collections.abc import Generator

from lab.control import plane, process, single
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.plane import Plane
from lab.control.state import loaded
from lab.scenario.timeline import Timeline

_RESTART_SECONDS = 120.0


@contextlib.contextmanager
def outage(of: Plane, component: str) -> Generator[None]:
    """The component is stopped; it is started again at the end, whatever happens."""
    single.stop(of.state_dir, component)
    try:
        yield
    finally:
        single.resume(of.state_dir, component)


def crash(of: Plane, component: str, timeline: Timeline) -> None:
    """SIGKILL; returns once the keeper has started it again. Raises LabError when it did not run."""
    before = _pid(of, component)
    if not single.kill(of.state_dir, component):
        raise LabError(f"{component} does not run; `headroom lab status` shows what does.")
    timeline.until(
        lambda: _pid(of, component) not in (None, before), _RESTART_SECONDS, f"{component} after its crash"
    )


def _pid(of: Plane, component: str) -> int | None:
    """The process that runs now."""
    identity = loaded(Layout(plane.attach(of.state_dir).state_dir)).running[component].identity
    return identity.pid if process.find(identity) and identity is not None else None
