"""Which instance types can run a replica, which can't and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.plan.prices import prices
from specs.catalogue import InstanceType
from specs.fit import fits
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings


@dataclass(frozen=True)
class Machine:
    """One type's verdict; `reason` is empty when it fits."""

    type: InstanceType
    reason: str

    def as_json(self) -> dict[str, object]:
        """Documented keys of `instanceTypes`."""
        return {
            "type": self.type.type,
            "fits": not self.reason,
            "reason": self.reason or None,
            "usdPerHour": self.type.usd_per_hour,
        }


def machines(settings: Settings, model: Model) -> list[Machine]:
    """Every type of the model's pool, in catalogue order; a refreshed catalogue also knows the zones."""
    pool = settings.pool(model.pool)
    zones = pool.zones or settings.zones
    return [
        Machine(entry.type, entry.reason or _offered(entry.type, zones)) for entry in in_pool(model, pool)
    ]


def in_pool(model: Model, pool: GpuPool) -> list[Machine]:
    """Every type of a pool, in catalogue order."""
    return [Machine(fit.type, fit.reason) for fit in fits(model, pool)]


def _offered(instance: InstanceType, zones: Sequence[str]) -> str:
    offered = prices().offerings.get(instance.type)
    if offered is None or set(offered) & set(zones):
        return ""
    return f"offered in {', '.join(offered)} alone, not in {', '.join(zones)}"


def fitting(model: Model, pool: GpuPool) -> list[InstanceType]:
    """The types of a pool that can run a replica."""
    return [machine.type for machine in in_pool(model, pool) if not machine.reason]


def cheapest(model: Model, pool: GpuPool) -> InstanceType | None:
    """The type Karpenter launches while capacity is to be had; None when none fits."""
    return min(fitting(model, pool), key=lambda entry: (entry.usd_per_hour, entry.type), default=None)
