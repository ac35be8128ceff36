"""What the GPU nodes that run cost an hour, from the catalogue's prices, and when that is more than the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import series
from specs.alerts.alert import Alert
from specs.alerts.nodes import GPUS, gpu_nodes
from specs.catalogue import catalogue
from specs.prices import HOURS_A_MONTH, hourly
from specs.promql import duration, number
from specs.series import any_of, where
from specs.settings.stack import Settings

MEAN_SECONDS: Final = 6 * 3600
"""A burst is what the budget's month is for; a quarter of a day above its rate is a habit."""
KINDS: Final = "instance_type, capacity_type"
MANAGED: Final = {"managed": "true"}
"""Nodes that Karpenter launched."""


def records(settings: Settings) -> Sequence[dict[str, object]]:
    """A constant series for the price of each type that a pool may launch, and the cost of what runs.

    A reservation is paid for whether used or not, so it counts as on-demand.
    """
    priced = {
        (entry.type, capacity): hourly(entry, capacity)
        for pool in settings.gpu_pools
        for entry in catalogue().of_pool(pool)
        for capacity in pool.capacity_types
    }
    rules: list[dict[str, object]] = [
        {
            "record": series.NODE_PRICE,
            "expr": f"vector({number(round(usd, 4))})",
            "labels": {"instance_type": instance, "capacity_type": capacity},
        }
        for (instance, capacity), usd in sorted(priced.items())
    ]
    nodes = f"count by (nodepool, {KINDS}) ({gpu_nodes(MANAGED, f'node_name, nodepool, {KINDS}')})"
    cost = f"{nodes} * on({KINDS}) group_left() {series.NODE_PRICE}"
    return (*rules, {"record": series.NODES_COST, "expr": cost})


def alerts(settings: Settings) -> Sequence[Alert]:
    """Money only where a budget in money is stated."""
    budget = settings.gpu_budget
    pools = {"nodepool": any_of(pool.name for pool in settings.gpu_pools)}
    kinds = gpu_nodes(MANAGED, f"node_name, {KINDS}")
    found = [
        Alert(
            "HeadroomGpusOverBudget",
            f"sum(max by (nodepool) ({where(series.POOL_USAGE, GPUS, pools)})) > {budget.max_gpus}",
            300,
            "critical",
            "over-budget",
            f"{{{{ $value }}}} GPUs run; gpuBudget.maxGpus is {budget.max_gpus}",
            "Limits of node pools are checked before a launch and can be overrun by several at once.",
        ),
        Alert(
            "HeadroomPriceUnknown",
            f"count by ({KINDS}) ({kinds}) unless on({KINDS}) {series.NODE_PRICE}",
            900,
            "info",
            "price-unknown",
            "{{ $labels.instance_type }} ({{ $labels.capacity_type }}) has no price in the catalogue",
            "The cost panels and the money budget count it as nothing.",
        ),
    ]
    if budget.max_monthly_usd is not None:
        # No node at all costs nothing and belongs into the mean too.
        mean = f"avg_over_time((sum({series.NODES_COST}) or vector(0))[{duration(MEAN_SECONDS)}:5m])"
        found.append(
            Alert(
                "HeadroomOverBudget",
                f"{mean} * {number(HOURS_A_MONTH)} > {number(budget.max_monthly_usd)}",
                900,
                "warning",
                "over-budget",
                f"GPU nodes cost more than gpuBudget.maxMonthlyUsd ({budget.max_monthly_usd:,.0f} USD a month)",
                "At the mean of the last six hours a month would cost {{ $value | humanize }} USD, for GPU nodes alone.",
            )
        )
    return found
