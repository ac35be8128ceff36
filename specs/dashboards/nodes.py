"""GPU nodes and what they cost: what runs, what comes and goes, what is used, and dollars per hour."""

from __future__ import annotations

from specs import metrics_names as names
from specs import series
from specs.alerts.cost import KINDS, MANAGED
from specs.alerts.nodes import GPUS, gpu_nodes
from specs.dashboards.dashboard import RATE, Dashboard, Row
from specs.dashboards.panel import Panel, Query, stat
from specs.prices import HOURS_A_MONTH
from specs.promql import number
from specs.series import where
from specs.settings.stack import Settings

COST = f"sum({series.NODES_COST}) or vector(0)"


def _now(settings: Settings) -> Row:
    budget = settings.gpu_budget
    gpus = f"sum({gpu_nodes()}) or vector(0)"
    requested = f"max by (node_name) ({where(series.NODE_REQUESTED, GPUS)})"
    usd = budget.max_monthly_usd
    return Row(
        "Now",
        (
            stat("GPU nodes", "Of all pools.", "none", f"count({gpu_nodes()}) or vector(0)"),
            stat(
                "GPUs",
                f"Allocatable; gpuBudget.maxGpus is {budget.max_gpus}.",
                "none",
                gpus,
                ((float(budget.max_gpus), "red"),),
            ),
            stat("GPUs in use", "Requested by pods.", "none", f"sum({requested}) or vector(0)"),
            stat("USD an hour", "GPU nodes at catalogue prices.", "currencyUSD", COST, decimals=2),
            stat(
                "USD a month at this rate",
                f"{HOURS_A_MONTH:.0f} hours; "
                + ("no budget in money is set." if usd is None else f"the budget is {usd:,.0f}."),
                "currencyUSD",
                f"({COST}) * {number(HOURS_A_MONTH)}",
                () if usd is None else ((usd, "red"),),
                decimals=0,
            ),
            stat(
                "USD a million output tokens",
                "All models, mean of an hour; GPU nodes alone.",
                "currencyUSD",
                f"avg_over_time(({COST})[1h:5m]) / (sum(rate({where(names.OUTPUT_TOKENS)}[1h])) * 3600 / 1e6 > 0)",
                decimals=2,
            ),
        ),
    )


def _nodes() -> Row:
    kinds = f"count by ({KINDS}) ({gpu_nodes(by=f'node_name, {KINDS}')})"
    usage, limit = (
        f"max by (nodepool) ({where(name, GPUS)})" for name in (series.POOL_USAGE, series.POOL_LIMIT)
    )
    return Row(
        "Nodes",
        (
            Panel(
                "GPU nodes by type",
                "Instance type and how it is bought.",
                "none",
                (Query(kinds, "{{instance_type}} {{capacity_type}}"),),
                stacked=True,
            ),
            Panel(
                "GPUs of the pools and their limits",
                "A limit is checked before a launch and can be overrun by several launches at once.",
                "none",
                (Query(usage, "{{nodepool}}"), Query(limit, "{{nodepool}} limit", limit=True)),
            ),
            Panel(
                "Node claims created and ended",
                "Of Karpenter, in each step of the chart, by what for.",
                "short",
                (
                    Query(
                        f"sum by (reason) (increase({series.CLAIMS_CREATED}[{RATE}]))", "created: {{reason}}"
                    ),
                    Query(
                        f"sum by (reason) (increase({series.CLAIMS_DISRUPTED}[{RATE}]))",
                        "disrupted: {{reason}}",
                    ),
                    Query(
                        f"sum by (capacity_type) (increase({series.CLAIMS_TERMINATED}[{RATE}]))",
                        "terminated: {{capacity_type}}",
                    ),
                ),
            ),
            Panel(
                "Pods without a node",
                "Unschedulable for the scheduler. A minute or two is a node's start.",
                "none",
                (Query(f"sum by (namespace) ({series.POD_UNSCHEDULABLE})", "{{namespace}}"),),
            ),
            Panel(
                "Launches that EC2 refused",
                "Offerings refused, by reason: capacity, quota, rights.",
                "short",
                (
                    Query(
                        f"sum by (capacity_type, reason) (increase({series.LAUNCH_FAILURES}[{RATE}]))",
                        "{{capacity_type}} {{reason}}",
                    ),
                ),
            ),
            Panel(
                "Notices from EC2",
                "Messages in the interruption queue by type.",
                "short",
                (
                    Query(
                        f"sum by (message_type) (increase({series.INTERRUPTIONS}[{RATE}]))",
                        "{{message_type}}",
                    ),
                ),
            ),
        ),
    )


def _gpus() -> Row:
    def by_host(name: str, function: str = "avg") -> str:
        return f"{function} by ({series.GPU_HOST}) ({name})"

    host = f"{{{{{series.GPU_HOST}}}}}"
    used, free = by_host(series.GPU_MEMORY_USED, "sum"), by_host(series.GPU_MEMORY_FREE, "sum")
    return Row(
        "GPUs",
        (
            Panel(
                "GPU utilisation",
                "Share of time with a kernel running, mean of the node's GPUs. It says busy, not efficient.",
                "percentunit",
                (Query(f"{by_host(series.GPU_UTILIZATION)} / 100", host),),
                most=1,
            ),
            Panel(
                "GPU memory in use",
                "Near gpuMemoryUtilization by design: vLLM takes its cache at the start.",
                "percentunit",
                (Query(f"{used} / ({used} + {free})", host),),
                most=1,
            ),
            Panel(
                "GPU power",
                "Sum of the node's GPUs.",
                "watt",
                (Query(by_host(series.GPU_POWER, "sum"), host),),
            ),
            Panel(
                "GPU temperature",
                "Hottest GPU of the node.",
                "celsius",
                (Query(by_host(series.GPU_TEMPERATURE, "max"), host),),
            ),
            Panel(
                "Last XID",
                "Number of the driver's last error; 0 for none.",
                "none",
                (Query(f"max by ({series.GPU_HOST}, gpu) ({series.GPU_XID})", f"{host} GPU {{{{gpu}}}}"),),
            ),
            Panel(
                "Memory rows out of use",
                "After uncorrectable ECC errors.",
                "none",
                (
                    Query(
                        f"max by ({series.GPU_HOST}, gpu) ({series.GPU_ROWS_REMAPPED})",
                        f"{host} GPU {{{{gpu}}}}",
                    ),
                ),
            ),
        ),
    )


def _cost() -> Row:
    unpriced = f"count by ({KINDS}) ({gpu_nodes(dict(MANAGED), f'node_name, {KINDS}')})"
    return Row(
        "Cost",
        (
            Panel(
                "USD an hour by pool",
                "GPU nodes at the catalogue's prices, from launch to termination.",
                "currencyUSD",
                (
                    Query(
                        f"sum by (nodepool, capacity_type) ({series.NODES_COST})",
                        "{{nodepool}} {{capacity_type}}",
                    ),
                ),
                stacked=True,
                decimals=2,
            ),
            Panel(
                "Nodes without a price",
                "Of types that the catalogue does not hold; they count as nothing.",
                "none",
                (
                    Query(
                        f"{unpriced} unless on({KINDS}) {series.NODE_PRICE}",
                        "{{instance_type}} {{capacity_type}}",
                    ),
                ),
            ),
        ),
    )


def dashboard(settings: Settings) -> Dashboard:
    """Nodes are shared by the models, so it has no choice of model."""
    return Dashboard(
        "nodes",
        "Headroom / Nodes and cost",
        "GPU nodes, Karpenter, GPUs and dollars.",
        (_now(settings), _nodes(), _gpus(), _cost()),
        by_model=False,
    )
