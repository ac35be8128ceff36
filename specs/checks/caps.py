"""GPU and money caps, summed over every layer that can hold a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from specs.checks.places import pools
from specs.gpus import Demand, demands
from specs.problems import Problem
from specs.settings.stack import Settings


def _sum(parts: list[Demand]) -> str:
    return " + ".join(
        f"{part.model.name} ({part.model.replicas.max} max + {part.model.scaling.warm_spares} warm)"
        f" x {part.model.gpus_per_replica}"
        for part in parts
    )


def problems(settings: Settings) -> Iterator[Problem]:
    """Pools and budget smaller than what the autoscalers may ask."""
    asked = demands(settings)
    for path, pool in pools(settings):
        own = [demand for demand in asked if demand.model.pool == pool.name]
        total = sum(demand.steady for demand in own)
        if total > pool.gpu_limit:
            yield Problem(
                f"{path}.gpuLimit",
                f"{pool.gpu_limit}, while {_sum(own)} = {total} GPUs",
                f"at least {total}",
                f"raise gpuLimit to {total} ({total + min(d.model.gpus_per_replica for d in own)} lets a rollout add"
                " a replica), or lower replicas.max",
            )
    total = sum(demand.steady for demand in asked)
    if total > settings.gpu_budget.max_gpus:
        yield Problem(
            "gpuBudget.maxGpus",
            f"{settings.gpu_budget.max_gpus}, while {_sum(asked)} = {total} GPUs",
            f"at least {total}",
            f"raise maxGpus to {total}, or lower replicas.max",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Pools that together may hold more than the budget: the budget then rests on the replicas alone."""
    total = sum(pool.gpu_limit for pool in settings.gpu_pools)
    if total > settings.gpu_budget.max_gpus:
        yield Problem(
            "gpuBudget.maxGpus",
            f"{settings.gpu_budget.max_gpus}, while the pools' limits sum to {total}",
            "limits whose sum is within the budget; policy gpu-limit blocks this when its cap is the same",
            "lower the pools' gpuLimit",
        )
