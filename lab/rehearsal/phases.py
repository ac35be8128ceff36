"""What a rehearsal does, one phase after the other, and when each is over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lab.load import Closed
from lab.load.profile import PUBLISHED_CLIENTS
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import tiers

QUICK_FACTOR: Final = 0.1
"""Nodes, images, weights and engines start in a tenth of their planned seconds."""
MOST_SECONDS: Final = 4 * 3600.0
_PATIENCE: Final = 3.0
"""A busy machine of two cores is up to three times slower than the plan."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the controllers say of one model now; None while they don't. `nodes` are GPU nodes of its pool."""

    desired: int | None
    ready: int | None
    nodes: int | None


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One phase: `clients` who each pause `think` seconds between requests; at least `least` and at most `most`
    seconds. With `replicas` it ends once so many are ready and desired, with `nodes` once there are so many."""

    name: str
    title: str
    clients: int
    think: float = 0.0
    least: float
    most: float
    replicas: int | None = None
    nodes: int | None = None

    @property
    def profile(self) -> Closed:
        """Its load. The script stops it; the time, that of the longest rehearsal, only bounds it."""
        return Closed(clients=self.clients, think=self.think, seconds=MOST_SECONDS)

    def over(self, seen: Seen, seconds: float) -> bool:
        """Whether it is done after so many seconds, its limit included."""
        if seconds >= self.most:
            return True
        return seconds >= self.least and self.reached(seen)

    def reached(self, seen: Seen) -> bool:
        """Whether what it waits for is there."""
        enough = self.replicas is None or seen.ready == seen.desired == self.replicas
        return enough and (self.nodes is None or (seen.nodes is not None and seen.nodes <= self.nodes))


def rehearsed(settings: Settings) -> Model:
    """The model that a rehearsal loads: the first that always has a replica, else the first."""
    models = settings.active_models
    return next((model for model in models if model.replicas.min > 0), models[0])


def phases(settings: Settings, model: Model, *, factor: float, hold_seconds: float) -> Sequence[Phase]:
    """The burst up to the most replicas, some time there, and the way back with callers still asking."""
    start = tiers(settings, model)[0]
    down = model.scaling.scale_down
    floor, top = max(1, model.replicas.min), model.replicas.max
    up_seconds = (start.detect + start.start * factor) * _PATIENCE + 60
    drain = model.drain.pre_stop_seconds + model.drain.shutdown_seconds
    steps = -(-(top - floor) // down.pods) * down.period_seconds
    empty = settings.pool(model.pool).consolidation.after_seconds
    down_seconds = down.stabilization_seconds + steps + drain + empty
    return (
        Phase(
            name="burst",
            title=f"{PUBLISHED_CLIENTS} clients at once: {floor} to {top} replicas",
            clients=PUBLISHED_CLIENTS,
            least=5.0,
            most=up_seconds,
            replicas=top,
        ),
        Phase(
            name="steady",
            title=f"the same clients on {top} replicas",
            clients=PUBLISHED_CLIENTS,
            least=hold_seconds,
            most=hold_seconds,
        ),
        Phase(
            name="calm",
            title=f"one client: back to {floor}, and the empty nodes go",
            clients=1,
            think=2.0,
            least=10.0,
            most=down_seconds * 2 + 60,
            replicas=floor,
            nodes=floor,
        ),
    )


HOLD_SECONDS: Final = 60.0
QUICK_HOLD_SECONDS: Final = 5.0


def watchable(settings: Settings) -> Mapping[str, Any]:
    """What a rehearsal changes in the stack: the waits of the way down, 25 minutes by default, and nothing else."""
    return _way_down(settings, empty=60, down={"pods": 4, "periodSeconds": 30, "stabilizationSeconds": 120})


def quick(settings: Settings) -> Mapping[str, Any]:
    """The same for a quick rehearsal, whose engines are drained at once too."""
    most = rehearsed(settings).replicas.max
    down = {"pods": most, "periodSeconds": 15, "stabilizationSeconds": 30}
    return _way_down(settings, empty=5, down=down, drain={"preStopSeconds": 5, "shutdownSeconds": 30})


def _way_down(settings: Settings, *, empty: int, down: Mapping[str, int], **more: Any) -> Mapping[str, Any]:
    model = rehearsed(settings)
    return {
        "headroom:gpuPools": [
            {"name": model.pool, "consolidation": {"policy": "WhenEmpty", "afterSeconds": empty}}
        ],
        "headroom:models": [{"name": model.name, "scaling": {"scaleDown": dict(down)}, **more}],
    }
