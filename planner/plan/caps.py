"""How many GPUs each layer allows, and how many vCPUs each AWS quota must hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

from planner.plan.machines import cheapest, fitting
from planner.plan.prices import prices
from specs.catalogue import InstanceType
from specs.gpus import Demand, demands
from specs.settings.stack import GpuPool, Settings

ON_DEMAND, SPOT = "on-demand", "spot"


@dataclass(frozen=True)
class QuotaName:
    """A vCPU quota of service `ec2`; `code` is None where public sources disagree on it."""

    code: str | None
    label: str
    capacity: str

    @property
    def key(self) -> str:
        """The code, or a stable stand-in."""
        return self.code or f"unconfirmed: {self.label}"


# Codes as public quota tools and the EC2 user guide (spot and on-demand instance quotas) give them.
G_ON_DEMAND = QuotaName("L-DB2E81BA", "Running On-Demand G and VT instances", ON_DEMAND)
G_SPOT = QuotaName("L-3819A6DF", "All G and VT Spot Instance Requests", SPOT)
P_ON_DEMAND = QuotaName("L-417A185B", "Running On-Demand P instances", ON_DEMAND)
P_SPOT = QuotaName("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", SPOT)
P5_SPOT = QuotaName("L-C4BD4855", "All P5 Spot Instance Requests", SPOT)
P6_SPOT = QuotaName(None, "P6 Spot Instance Requests", SPOT)
STANDARD_ON_DEMAND = QuotaName(
    "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", ON_DEMAND
)


@dataclass(frozen=True)
class Quota:
    """vCPUs one quota must hold. `vcpu`: every node of the worst case on the largest type that fits; `least_vcpu`:
    all on the cheapest type, as long as AWS has it.
    """

    name: QuotaName
    sizes: tuple[int, ...]
    """vCPUs of each node of the worst case."""
    least_vcpu: int
    largest: str
    cheapest: str | None

    @property
    def vcpu(self) -> int:
        """All nodes of the worst case."""
        return sum(self.sizes)

    @property
    def nodes(self) -> int:
        """How many they are."""
        return len(self.sizes)

    def without_room(self, vcpu: float) -> int:
        """Nodes of the worst case that do not fit into so many vCPUs, at least: the small ones go in first."""
        fitting = (total <= vcpu for total in accumulate(sorted(self.sizes)))
        return self.nodes - sum(fitting)

    def as_json(self) -> dict[str, object]:
        """Documented keys of `quotas`."""
        return {
            "code": self.name.key,
            "vcpu": self.vcpu,
            "name": self.name.label,
            "capacityType": self.name.capacity,
            "leastVcpu": self.least_vcpu,
            "nodes": self.nodes,
            "largestType": self.largest,
            "cheapestType": self.cheapest,
        }


def quota_of(instance: InstanceType, capacity: str) -> QuotaName:
    """The quota that a GPU type counts against."""
    return quota_of_family(instance.family, capacity)


def quota_of_family(family: str, capacity: str) -> QuotaName:
    """The quota of a GPU family, such as `g5`. Reservations count as on-demand (EC2 user guide)."""
    if not family.startswith("p"):
        return G_SPOT if capacity == SPOT else G_ON_DEMAND
    if capacity != SPOT:
        return P_ON_DEMAND
    if family.startswith("p6"):
        return P6_SPOT
    return P5_SPOT if family.startswith("p5") else P_SPOT


@dataclass(frozen=True)
class PoolCap:
    """One pool's GPU limit against what its models may ask."""

    pool: str
    limit: int
    demand: int

    def as_json(self) -> dict[str, object]:
        """Documented keys of `caps.pools`."""
        return {"pool": self.pool, "limitGpus": self.limit, "demandGpus": self.demand}


@dataclass(frozen=True)
class Caps:
    """GPUs by layer; `replicas` is the hard cap: (max replicas + spares + surge) x GPUs over all models."""

    replicas: int
    surge: int
    spares: int
    pools: tuple[PoolCap, ...]
    budget: int

    @property
    def pool_gpus(self) -> int:
        """Sum of the pools' limits."""
        return sum(pool.limit for pool in self.pools)

    def as_json(self) -> dict[str, object]:
        """Documented keys of `caps`."""
        return {
            "replicasGpus": self.replicas,
            "poolsGpus": self.pool_gpus,
            "budgetGpus": self.budget,
            "surgeGpus": self.surge,
            "sparesGpus": self.spares,
            "pools": [pool.as_json() for pool in self.pools],
        }


def caps(settings: Settings) -> Caps:
    """Every layer that can hold a GPU."""
    asked = demands(settings)
    return Caps(
        replicas=sum(demand.gpus for demand in asked),
        surge=sum(demand.gpus - demand.steady for demand in asked),
        spares=sum(demand.model.scaling.warm_spares * demand.model.gpus_per_replica for demand in asked),
        pools=tuple(
            PoolCap(
                pool.name,
                pool.gpu_limit,
                sum(demand.gpus for demand in asked if demand.model.pool == pool.name),
            )
            for pool in settings.gpu_pools
        ),
        budget=settings.gpu_budget.max_gpus,
    )


def quotas(settings: Settings) -> list[Quota]:
    """Worst case of each quota by itself: every node of every pool that may use it, all at once."""
    found: dict[str, Quota] = {}
    for demand in demands(settings):
        pool = settings.pool(demand.model.pool)
        for capacity in _capacities(pool):
            for entry in _of_model(demand, pool, capacity):
                before = found.get(entry.name.key)
                found[entry.name.key] = together(before, entry) if before else entry
    if settings.cluster.mode == "eks":
        found |= {quota.name.key: quota for quota in _system(settings)}
    return [found[key] for key in sorted(found)]


def _capacities(pool: GpuPool) -> list[str]:
    """On-demand and reserved share a quota."""
    bought = {ON_DEMAND if name == "reserved" else name for name in pool.capacity_types}
    return [name for name in (ON_DEMAND, SPOT) if name in bought]


def _of_model(demand: Demand, pool: GpuPool, capacity: str) -> list[Quota]:
    nodes = demand.gpus // demand.model.gpus_per_replica
    types = fitting(demand.model, pool)
    first = cheapest(demand.model, pool)
    entries: list[Quota] = []
    for name in sorted({quota_of(entry, capacity) for entry in types}, key=lambda quota: quota.key):
        own = [entry for entry in types if quota_of(entry, capacity) == name]
        largest = max(own, key=lambda entry: (entry.vcpu, entry.type))
        least = first if first in own else None
        entries.append(
            Quota(
                name,
                (largest.vcpu,) * nodes,
                nodes * least.vcpu if least else 0,
                largest.type,
                least.type if least else None,
            )
        )
    return entries


def together(one: Quota, other: Quota) -> Quota:
    """What two demands on one quota need."""
    return replace(
        one,
        sizes=one.sizes + other.sizes,
        least_vcpu=one.least_vcpu + other.least_vcpu,
        largest=max(one, other, key=lambda quota: max(quota.sizes, default=0)).largest,
        cheapest=one.cheapest or other.cheapest,
    )


def _system(settings: Settings) -> list[Quota]:
    """System nodes, where the price list knows their sizes."""
    nodes, known = settings.cluster.system_nodes, prices().system_types
    types = [name for name in nodes.instance_types if name in known]
    if not types:
        return []
    largest = max(types, key=lambda name: (known[name].vcpu, name))
    least = min(types, key=lambda name: (known[name].usd_per_hour, name))
    return [
        Quota(
            STANDARD_ON_DEMAND,
            (known[largest].vcpu,) * nodes.max,
            nodes.max * known[least].vcpu,
            largest,
            least,
        )
    ]
