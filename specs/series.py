"""The series of the controllers and exporters around the models: every name is written here once.

Sources: keda 2.21 pkg/metricscollector/prommetrics.go; karpenter 1.14 pkg/metrics and pkg/controllers, and its AWS
provider's pkg/controllers/interruption and pkg/providers/instance; kube-state-metrics docs/metrics;
dcgm-exporter etc/default-counters.csv.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from specs.promql import duration

KEDA_UP: Final = "keda_build_info"
KEDA_ERRORS: Final = "keda_scaler_detail_errors_total"
"""Failed readings by namespace, scaledObject, scaler (the trigger's name)."""
KEDA_VALUE: Final = "keda_scaler_metrics_value"
KEDA_LATENCY: Final = "keda_scaler_metrics_latency_seconds"
KEDA_PAUSED: Final = "keda_scaled_object_paused"

KARPENTER_UP: Final = "karpenter_build_info"
NODE_ALLOCATABLE: Final = "karpenter_nodes_allocatable"
"""By node_name, nodepool, instance_type, capacity_type, zone, resource_type."""
NODE_REQUESTED: Final = "karpenter_nodes_total_pod_requests"
POOL_USAGE: Final = "karpenter_nodepools_usage"
POOL_LIMIT: Final = "karpenter_nodepools_limit"
CLAIMS_CREATED: Final = "karpenter_nodeclaims_created_total"
CLAIMS_TERMINATED: Final = "karpenter_nodeclaims_terminated_total"
CLAIMS_DISRUPTED: Final = "karpenter_nodeclaims_disrupted_total"
LAUNCH_FAILURES: Final = "karpenter_cloudprovider_instance_launch_failures_total"
INTERRUPTIONS: Final = "karpenter_interruption_received_messages_total"
SPOT_NOTICE: Final = "spot_interrupted"
GPU_RESOURCE: Final = "nvidia.com/gpu"
"""Value of Karpenter's resource_type."""

HPA_MAX: Final = "kube_horizontalpodautoscaler_spec_max_replicas"
HPA_MIN: Final = "kube_horizontalpodautoscaler_spec_min_replicas"
HPA_DESIRED: Final = "kube_horizontalpodautoscaler_status_desired_replicas"
HPA_CURRENT: Final = "kube_horizontalpodautoscaler_status_current_replicas"
HPA_CONDITION: Final = "kube_horizontalpodautoscaler_status_condition"
DEPLOYMENT_READY: Final = "kube_deployment_status_replicas_ready"
DEPLOYMENT_REPLICAS: Final = "kube_deployment_status_replicas"
POD_UNSCHEDULABLE: Final = "kube_pod_status_unschedulable"
KUBE_NODE: Final = "kube_node_info"
KUBE_NODE_CAPACITY: Final = "kube_node_status_capacity"
KUBE_NODE_CONDITION: Final = "kube_node_status_condition"
KUBE_GPU_RESOURCE: Final = "nvidia_com_gpu"
"""Value of kube-state-metrics' resource."""

GPU_UTILIZATION: Final = "DCGM_FI_DEV_GPU_UTIL"
GPU_MEMORY_USED: Final = "DCGM_FI_DEV_FB_USED"
GPU_MEMORY_FREE: Final = "DCGM_FI_DEV_FB_FREE"
GPU_POWER: Final = "DCGM_FI_DEV_POWER_USAGE"
GPU_TEMPERATURE: Final = "DCGM_FI_DEV_GPU_TEMP"
GPU_XID: Final = "DCGM_FI_DEV_XID_ERRORS"
"""Number of the last XID; it stays until the next one or a restart of the exporter."""
GPU_ROWS_REMAPPED: Final = "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"
"""Rows taken out of use after uncorrectable ECC errors; the plain ECC counters are not exported by default."""
GPU_ROW_REMAP_FAILED: Final = "DCGM_FI_DEV_ROW_REMAP_FAILURE"
GPU_HOST: Final = "Hostname"
"""DCGM's label for the node."""

RULE_FAILURES: Final = "prometheus_rule_evaluation_failures_total"

NODE_PRICE: Final = "headroom:node_price:usd_per_hour"
"""Catalogue price by instance_type and capacity_type."""
NODES_COST: Final = "headroom:gpu_nodes:usd_per_hour"
"""Cost of the GPU nodes that run, by nodepool, instance_type and capacity_type."""


def where(
    name: str, exact: Mapping[str, str] | None = None, like: Mapping[str, str] | None = None, window: int = 0
) -> str:
    """A selector as text: labels that are equal, labels that match a pattern, `[window]` seconds of it."""
    pairs = [f'{key}="{value}"' for key, value in (exact or {}).items()]
    pairs += [f'{key}=~"{value}"' for key, value in (like or {}).items()]
    text = name + ("{" + ",".join(pairs) + "}" if pairs else "")
    return f"{text}[{duration(window)}]" if window else text


def any_of(names: Iterable[str]) -> str:
    """A pattern that matches these names and no others, each once, in order of the alphabet. They are DNS labels:
    nothing in them needs an escape.
    """
    return "|".join(sorted(set(names)))
