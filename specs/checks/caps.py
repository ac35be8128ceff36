"""GPU and money caps, summed over every layer that can hold a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from specs.checks.places import placed, pools
from specs.fit import fitting_types
from specs.gpus import Demand, demands
from specs.prices import HOURS_A_MONTH
from specs.problems import Problem
from specs.settings.stack import Settings


def _sum(parts: list[Demand]) -> str:
    if len(parts) > 6:
        return f"{len(parts)} models' (max + warm) x GPUs"
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
    yield from _money(settings)


def _money(settings: Settings) -> Iterator[Problem]:
    """The nodes alone, on demand, of the cheapest types that fit: a bill the ceiling can't stay below."""
    cap = settings.gpu_budget.max_monthly_usd
    if cap is None:
        return
    total = 0.0
    for _, model, pool in placed(settings):
        price = min((entry.usd_per_hour for entry in fitting_types(model, pool)), default=0.0)
        total += price * (model.replicas.max + model.scaling.warm_spares) * HOURS_A_MONTH
    if total > cap:
        yield Problem(
            "gpuBudget.maxMonthlyUsd",
            f"{cap:g}, while all replicas on the cheapest nodes that fit cost {total:.0f} USD a month on demand",
            f"at least {total:.0f}, without control plane, NAT and disks (`headroom plan` adds them)",
            "raise it, or lower replicas.max",
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
