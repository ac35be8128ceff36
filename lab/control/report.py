"""The state of a lab for people and for programs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from lab.control import health, process
from lab.control.layout import Layout
from lab.control.state import Running, load

Condition = Literal["well", "unwell", "dead", "stopped"]
"""``unwell``: it lives but does not answer. ``dead``: it should live. ``stopped``: ended on purpose."""


@dataclass(frozen=True, kw_only=True)
class ComponentStatus:
    """One component. Bytes, seconds, and processor seconds are None while it does not live."""

    name: str
    condition: Condition
    pid: int | None
    rss_bytes: int | None
    cpu_seconds: float | None
    up_seconds: float | None
    restarts: int
    log: str


@dataclass(frozen=True, kw_only=True)
class LabStatus:
    """A lab. ``up`` is True when each component that should be well is."""

    up: bool
    state_dir: str
    kubeconfig: str | None
    components: tuple[ComponentStatus, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values under the field names."""
        return asdict(self)

    @property
    def rss_bytes(self) -> int:
        """What all components hold together."""
        return sum(component.rss_bytes or 0 for component in self.components)


def status(state_dir: Path) -> LabStatus:
    """Looks at every component now. A folder without a lab gives an empty status that is not up."""
    layout = Layout(state_dir.absolute())
    state = load(layout)
    components = [_look(layout, name, running) for name, running in state.running.items()] if state else []
    return LabStatus(
        up=bool(components) and all(one.condition in ("well", "stopped") for one in components),
        state_dir=str(layout.root),
        kubeconfig=str(layout.kubeconfig) if state else None,
        components=tuple(components),
    )


def table(found: LabStatus) -> Table:
    """The status as a table for the terminal."""
    shown = Table(
        title=f"Lab in {found.state_dir}" + ("" if found.components else ": none"), title_justify="left"
    )
    for title in ("component", "condition", "pid", "MiB", "CPU s", "up s", "restarts"):
        shown.add_column(
            title, justify="right" if title in ("pid", "MiB", "CPU s", "up s", "restarts") else "left"
        )
    for one in found.components:
        shown.add_row(
            one.name,
            one.condition,
            _number(one.pid),
            _number(one.rss_bytes and one.rss_bytes / (1 << 20)),
            _number(one.cpu_seconds),
            _number(one.up_seconds),
            str(one.restarts),
        )
    if found.components:
        logs = Path(found.components[0].log).parent
        shown.caption = (
            f"{found.rss_bytes / (1 << 20):.0f} MiB in all. Logs: {logs}. KUBECONFIG={found.kubeconfig}"
        )
    return shown


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _look(layout: Layout, name: str, running: Running) -> ComponentStatus:
    used = process.usage(running.identity)
    condition: Condition = "dead" if running.wanted else "stopped"
    if used is not None:
        condition = "well" if health.is_well(running.component.health) else "unwell"
    return ComponentStatus(
        name=name,
        condition=condition,
        pid=running.identity.pid if running.identity and used else None,
        rss_bytes=used and used.rss_bytes,
        cpu_seconds=used and round(used.cpu_seconds, 2),
        up_seconds=used and round(used.up_seconds, 1),
        restarts=running.restarts,
        log=str(layout.log(name)),
    )
