"""``up`` and ``down`` of a lab, and its parts one by one: the interface that everything else in the lab uses."""

import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx2
from lightkube import ApiError, Client

from lab import tools
from lab.control import certificates, kubernetes, ports, process
from lab.control.bootstrap import bootstrap
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.parts import registry
from lab.control.parts.context import Context
from lab.control.settings import LabSettings
from lab.control.starting import Progress, bring_up, quiet, tail
from lab.control.state import State, load, loaded, locked, save

DEFAULT_STATE = Path(".headroom") / "lab"
"""Where a lab lies unless told otherwise, relative to the project."""


_BOOTSTRAP_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A lab that is up. ``pods`` is the loopback network from which its pods get addresses."""

    state_dir: Path
    settings: LabSettings
    ports: Mapping[str, int]
    pods: str

    @property
    def layout(self) -> Layout:
        """Its paths."""
        return Layout(self.state_dir)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.layout.kubeconfig

    @property
    def api_url(self) -> str:
        """The API server."""
        return f"https://127.0.0.1:{self.ports['apiserver']}"

    def url(self, component: str) -> str:
        """The root URL of a component that speaks plain HTTP, such as prometheus or aws."""
        return f"http://127.0.0.1:{self.ports[component]}"

    def client(self) -> Client:
        """A new client of the API server, to be closed by the caller."""
        return kubernetes.client(self.kubeconfig)


def up(
    state_dir: Path,
    components: Iterable[str] = registry.FULL,
    *,
    settings: LabSettings | None = None,
    progress: Progress = quiet,
    tools_progress: tools.Progress | None = None,
) -> Plane:
    """Brings a lab up and returns when all its components are well.

    Also the repair of a lab: what died is started again, what runs is kept, what changed is restarted. Components
    of an earlier ``up`` stay. Without settings the earlier ones hold. Raises LabError and tools.ToolError.
    """
    layout = Layout(state_dir.absolute())
    asked = registry.closure(components)
    binaries = tools.ensure(registry.tools_of(asked), tools_progress)
    with locked(layout, create=True):
        state = load(layout) or State()
        state.settings = settings or state.settings
        names = _with_earlier(state, asked)
        binaries |= tools.ensure(registry.tools_of(names), tools_progress)
        lab = _prepare(layout, state, names, binaries)

        def when_well(name: str) -> None:
            if name == "apiserver":
                _bootstrap(lab, names)

        rendered = [registry.PARTS[name].render(lab) for name in names]
        rendered += [
            running.component
            for name, running in state.running.items()
            if running.wanted and name not in registry.PARTS
        ]
        needs = {name: registry.PARTS[name].needs for name in names}
        bring_up(layout, state, rendered, needs, when_well, progress)
    return _plane(layout, state)


def attach(state_dir: Path) -> Plane:
    """The lab in a folder, as it is. Raises LabError when there is none."""
    layout = Layout(state_dir.absolute())
    return _plane(layout, loaded(layout))


def down(state_dir: Path, *, keep: bool = False) -> list[str]:
    """Ends a lab: its processes, dependents first; then its folder, ports and network. The names that it ended.

    ``keep`` leaves the folder, so that ``up`` resumes with the same objects. A folder without a lab is left alone.
    """
    layout = Layout(state_dir.absolute())
    if not layout.root.is_dir() or not layout.state.exists():
        return []
    with locked(layout):
        state = loaded(layout)
        ended = [name for name, running in state.running.items() if process.find(running.identity)]
        _end(state, [name for name in state.running if name == "keeper"])
        _end(state, [name for name in state.running if name not in registry.API])
        _end(state, ["apiserver"])
        _end(state, ["etcd"])
        if keep:
            save(layout, state)
            return ended
        shutil.rmtree(layout.root)
    ports.release(layout.root)
    return ended


def _plane(layout: Layout, state: State) -> Plane:
    return Plane(
        state_dir=layout.root,
        settings=state.settings,
        ports=MappingProxyType(dict(state.ports)),
        pods=state.pods,
    )


def _with_earlier(state: State, asked: Iterable[str]) -> list[str]:
    earlier = {name for name, running in state.running.items() if running.wanted and name in registry.PARTS}
    return registry.closure(earlier | set(asked))


def _prepare(layout: Layout, state: State, names: list[str], binaries: Mapping[str, Path]) -> Context:
    """Chooses ports, makes certificates and the kubeconfig, saves the state."""
    alive = [name for name, running in state.running.items() if process.find(running.identity)]
    held = set(registry.ports_of(name for name in alive if name in registry.PARTS))
    # A dead component's port may have been taken meanwhile: it gets another, and who speaks to it restarts.
    kept = {purpose: port for purpose, port in state.ports.items() if purpose in held or ports.is_free(port)}
    state.ports = ports.choose(layout.root, registry.ports_of(names), kept)
    state.pods = ports.pod_network(layout.root)
    made = certificates.ensure(layout.certificates)
    url = f"https://127.0.0.1:{state.ports['apiserver']}"
    kubernetes.write_kubeconfig(layout.kubeconfig, url, made.path("ca.crt"), made.token)
    save(layout, state)
    return Context(
        layout=layout,
        ports=state.ports,
        pods=state.pods,
        settings=state.settings,
        certificates=made,
        tools=binaries,
    )


def _bootstrap(lab: Context, names: list[str]) -> None:
    """Repeated while the API server is busy with what it was just given (429 and 5xx: "storage is initializing")."""
    deadline = time.monotonic() + _BOOTSTRAP_SECONDS
    while True:
        try:
            with kubernetes.client(lab.layout.kubeconfig) as to:
                return bootstrap(to, lab, names)
        except (ApiError, httpx2.HTTPError) as error:
            refused = isinstance(error, ApiError) and (error.status.code or 500) not in (
                429,
                *range(500, 600),
            )
            if refused or time.monotonic() > deadline:
                log = tail(lab.layout.log("apiserver"))
                raise LabError(
                    f"The new cluster does not take the objects of the lab: {error}\n{log}"
                ) from error
            time.sleep(0.2)


def _end(state: State, names: Iterable[str]) -> None:
    found = [state.running[name] for name in names if name in state.running]
    process.stop(*((running.identity, running.component.grace) for running in found))
    for running in found:
        running.identity = None
