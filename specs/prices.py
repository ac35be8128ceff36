"""Prices beside the GPU types: control plane, network, disks, system nodes; a dated snapshot, not a literal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from specs.catalogue import DATA, InstanceType
from specs.settings.stack import GpuPool

HOURS_A_MONTH = 730.0
"""Hours of a mean month, as AWS's own calculator counts them."""
# gp3 includes these (EBS user guide, General Purpose SSD).
FREE_IOPS, FREE_THROUGHPUT = 3000, 125
BOTTLEROCKET_ROOT_GIB = 8


class Item(BaseModel):
    """One price in USD with its unit and where it stands."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    usd: float
    unit: str
    source: str


class SystemType(BaseModel):
    """An instance type for system nodes: vCPUs and USD an hour on-demand."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, frozen=True, extra="forbid")

    vcpu: int
    usd_per_hour: float


class Prices(BaseModel):
    """The shipped or refreshed snapshot."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, frozen=True, extra="forbid")

    region: str
    date: str
    """Day of the snapshot, ISO 8601."""
    source: str
    spot_share: float
    """Spot price as a share of on-demand where `spot_prices` doesn't know the type."""
    spot_source: str
    spot_prices: Mapping[str, float]
    """USD an hour by instance type, as last refreshed."""
    offerings: Mapping[str, tuple[str, ...]] = {}
    """Zones by GPU instance type, as last refreshed; empty where never asked."""
    items: Mapping[str, Item]
    system_types: Mapping[str, SystemType]

    def of(self, item: str) -> float:
        """USD per unit of an item. Raises KeyError for an item the snapshot lacks."""
        return self.items[item].usd

    def spot(self, instance: InstanceType) -> float:
        """Expected USD an hour on spot."""
        return self.spot_prices.get(instance.type, instance.usd_per_hour * self.spot_share)

    def disk_month(self, pool: GpuPool) -> float:
        """USD a month for the volumes of one node of a pool."""
        disk = pool.disk
        system = BOTTLEROCKET_ROOT_GIB if pool.ami.startswith("bottlerocket") else 0
        return (
            (disk.size_gi_b + system) * self.of("volumeGiBMonth")
            + (disk.iops - FREE_IOPS) * self.of("volumeIopsMonth")
            + (disk.throughput - FREE_THROUGHPUT) * self.of("volumeThroughputMonth")
        )


def load_prices(path: Path) -> Prices:
    """Read a price file. Raises pydantic.ValidationError or OSError."""
    return TypeAdapter(Prices).validate_python(json.loads(path.read_text(encoding="utf-8")), by_alias=True)


@cache
def prices() -> Prices:
    """The snapshot in specs/data/prices.json."""
    return load_prices(DATA / "prices.json")


def hourly(instance: InstanceType, capacity: str) -> float:
    """USD an hour of a type as `spot` or `on-demand`."""
    return prices().spot(instance) if capacity == "spot" else instance.usd_per_hour
