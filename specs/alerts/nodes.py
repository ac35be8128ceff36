"""GPU nodes: ready, healthy, to be had, within their limits, and used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import series
from specs.alerts.alert import Alert, both, either
from specs.series import any_of, where
from specs.settings.stack import GpuPool, Settings

FATAL_XIDS: Final = (48, 62, 64, 74, 79, 92, 94, 95, 119, 120, 140)
"""XIDs of broken hardware or firmware; 13, 31, 43 and 45 are the application's own (NVIDIA XID catalogue)."""
NEAR_LIMIT: Final = 0.9
RECLAIM_SHARE: Final = 0.2
LEAST_RECLAIMS: Final = 3
LEAST_FAILURES: Final = 5
GPUS: Final = {"resource_type": series.GPU_RESOURCE}


def alerts(settings: Settings) -> Sequence[Alert]:
    """Those that the pools and installed parts can have."""
    found = [_not_ready(), *_faults()]
    if settings.platform.gpu_metrics.install:
        found.append(_unmeasured())
    if any("spot" in pool.capacity_types for pool in settings.gpu_pools):
        found.append(_reclaims())
    found += [_scarce(), _near_limit(any_of(pool.name for pool in settings.gpu_pools))]
    return (*found, _unused(settings))


def gpu_nodes(exact: dict[str, str] | None = None, by: str = "node_name, nodepool") -> str:
    """GPUs of each node, once however many Karpenter replicas show them."""
    return f"max by ({by}) ({where(series.NODE_ALLOCATABLE, GPUS | (exact or {}))}) > 0"


def _kube_gpu_nodes() -> str:
    capacity = where(series.KUBE_NODE_CAPACITY, {"resource": series.KUBE_GPU_RESOURCE})
    return f"max by (node) ({capacity}) > 0"


def _not_ready() -> Alert:
    ready = where(series.KUBE_NODE_CONDITION, {"condition": "Ready", "status": "true"})
    return Alert(
        "HeadroomGpuNodeNotReady",
        both(f"max by (node) ({ready}) == 0", _kube_gpu_nodes()),
        300,
        "critical",
        "gpu-node-not-ready",
        "GPU node {{ $labels.node }} is not ready",
        "Its engines are lost to the model while it is still paid for.",
    )


def _faults() -> Sequence[Alert]:
    where_it_is = f"max by ({series.GPU_HOST}, gpu)"
    xids = (f"{where_it_is} ({series.GPU_XID}) == {xid}" for xid in FATAL_XIDS)
    memory = (
        f"{where_it_is} (increase({where(series.GPU_ROWS_REMAPPED, window=3600)})) > 0",
        f"{where_it_is} ({series.GPU_ROW_REMAP_FAILED}) > 0",
    )
    return (
        Alert(
            "HeadroomGpuXid",
            either(*xids),
            0,
            "critical",
            "gpu-faults",
            f"GPU {{{{ $labels.gpu }}}} of {{{{ $labels.{series.GPU_HOST} }}}}: XID {{{{ $value }}}}",
            "The driver reports broken hardware or firmware; what runs on it fails or hangs until the node is replaced.",
        ),
        Alert(
            "HeadroomGpuMemoryFault",
            either(*memory),
            0,
            "critical",
            "gpu-faults",
            f"GPU {{{{ $labels.gpu }}}} of {{{{ $labels.{series.GPU_HOST} }}}} loses memory",
            "Uncorrectable ECC errors took rows out of use within the hour, or no spare row was left.",
        ),
    )


def _unmeasured() -> Alert:
    measured = f"count(count by ({series.GPU_HOST}) ({series.GPU_UTILIZATION})) or vector(0)"
    return Alert(
        "HeadroomGpuMetricsMissing",
        f"count({_kube_gpu_nodes()}) > ({measured})",
        900,
        "warning",
        "gpu-metrics-missing",
        "Some of {{ $value }} GPU nodes show no GPU metrics",
        "The GPU exporter does not run on them, or is not scraped: faults there stay unseen.",
    )


def _reclaims() -> Alert:
    notices = (
        f"sum(increase({where(series.INTERRUPTIONS, {'message_type': series.SPOT_NOTICE}, window=3600)}))"
    )
    spot = gpu_nodes({"capacity_type": "spot"}, "node_name")
    return Alert(
        "HeadroomSpotReclaims",
        both(
            f"{notices} >= {LEAST_RECLAIMS}", f"{notices} >= {RECLAIM_SHARE} * (count({spot}) or vector(0))"
        ),
        0,
        "warning",
        "spot-reclaims",
        "{{ $value | humanize }} spot nodes were reclaimed within an hour",
        f"That is {RECLAIM_SHARE:.0%} of the spot GPU nodes or more. Each costs its engines a drain and a cold start.",
    )


def _scarce() -> Alert:
    failures = where(series.LAUNCH_FAILURES, window=900)
    return Alert(
        "HeadroomCapacityUnavailable",
        f"sum by (capacity_type, reason) (increase({failures})) >= {LEAST_FAILURES}",
        600,
        "warning",
        "capacity-unavailable",
        "EC2 refuses {{ $labels.capacity_type }} launches: {{ $labels.reason }}",
        "{{ $value | humanize }} offerings were refused in a quarter of an hour.",
    )


def _near_limit(pools: str) -> Alert:
    usage = f"max by (nodepool) ({where(series.POOL_USAGE, GPUS, {'nodepool': pools})})"
    limit = f"max by (nodepool) ({where(series.POOL_LIMIT, GPUS, {'nodepool': pools})})"
    return Alert(
        "HeadroomPoolNearLimit",
        f"{usage} / {limit} >= {NEAR_LIMIT}",
        900,
        "warning",
        "pool-near-limit",
        "Pool {{ $labels.nodepool }} holds {{ $value | humanizePercentage }} of its GPU limit",
        "Pods beyond the limit wait for ever; a rollout needs room for one replica more.",
    )


def _unused_in(settings: Settings, pool: GpuPool) -> str:
    """GPUs of the pool's nodes without a pod that asks for one; warm spares are meant to be empty."""
    mine = {"nodepool": pool.name}
    used = f"max by (node_name, nodepool) ({where(series.NODE_REQUESTED, GPUS | mine)}) > 0"
    spare = sum(
        model.scaling.warm_spares * model.gpus_per_replica
        for model in settings.active_models
        if model.pool == pool.name
    )
    return f"sum by (nodepool) (({gpu_nodes(mine)}) unless ({used})) > {spare}"


def _unused(settings: Settings) -> Alert:
    longest = max((pool.consolidation.after_seconds for pool in settings.gpu_pools), default=0)
    return Alert(
        "HeadroomGpusUnused",
        either(*(_unused_in(settings, pool) for pool in settings.gpu_pools)),
        longest + 1800,
        "warning",
        "gpus-wasted",
        "Pool {{ $labels.nodepool }} pays for {{ $value }} GPUs that nobody uses",
        "Their nodes have had no GPU pod for longer than consolidation waits, and the pool's warm spares need fewer.",
    )
