"""GPU instance types as data: sizes, allocatable resources, network and on-demand price."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from specs.settings.stack import GpuPool

DATA = Path(__file__).parent / "data"


class InstanceType(BaseModel):
    """One EC2 instance type. Allocatable values come before DaemonSets are subtracted."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, frozen=True, extra="forbid")

    type: str
    gpu: str
    """GPU name as Karpenter's label karpenter.k8s.aws/instance-gpu-name."""
    gpus: int
    gpu_memory_mi_b: int
    """Memory of one GPU in MiB."""
    compute_capability: str
    vcpu: int
    memory_gi_b: int
    allocatable_cpu_milli: int
    allocatable_memory_mi_b: int
    nvme_g_b: int
    """Local NVMe in GB, 0 for none."""
    network_gbps: float
    """Network baseline in Gbit/s; bursts are not counted on."""
    ebs_mbps: int
    """EBS bandwidth in Mbit/s, the most the type reaches."""
    usd_per_hour: float
    """On-demand Linux price in the catalogue's region."""

    @property
    def family(self) -> str:
        """`g5` of `g5.2xlarge`."""
        return self.type.partition(".")[0]


class Catalogue(BaseModel):
    """The shipped or refreshed snapshot of instance types."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    region: str
    date: str
    """Day of the snapshot, ISO 8601."""
    source: str
    types: tuple[InstanceType, ...]

    def families(self) -> list[str]:
        """Known families, sorted."""
        return sorted({entry.family for entry in self.types})

    def of_pool(self, pool: GpuPool) -> list[InstanceType]:
        """The types a pool may launch, in catalogue order."""
        return [
            entry
            for entry in self.types
            if (entry.type in (pool.instance_types or ())) or (entry.family in (pool.families or ()))
        ]

    def unknown(self, pool: GpuPool) -> Sequence[str]:
        """Families and types the pool names that the catalogue does not hold."""
        types, families = {entry.type for entry in self.types}, set(self.families())
        return [name for name in pool.families or () if name not in families] + [
            name for name in pool.instance_types or () if name not in types
        ]


def load_catalogue(path: Path) -> Catalogue:
    """Read a catalogue file. Raises pydantic.ValidationError or OSError."""
    return TypeAdapter(Catalogue).validate_python(json.loads(path.read_text(encoding="utf-8")), by_alias=True)


@cache
def catalogue() -> Catalogue:
    """The snapshot in specs/data/instances.json."""
    return load_catalogue(DATA / "instances.json")
