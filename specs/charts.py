"""Helm releases as plain arguments: where a chart comes from, its version, and its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from specs import versions
from specs.labels import system_nodes
from specs.names import (
    GPU_NAMESPACE,
    KARPENTER_NAMESPACE,
    KARPENTER_SERVICE_ACCOUNT,
    LOAD_BALANCER_SERVICE_ACCOUNT,
    Names,
)
from specs.settings.stack import Chart, Settings
from specs.versions import ChartPin

Values = Mapping[str, object]
# A chart with admission jobs or a leader election needs minutes on fresh nodes; Helm's default is 300 s.
RELEASE_TIMEOUT_SECONDS = 900
# Its guide asks for a core, which is half of the smallest system node; a fleet of tens of nodes uses a tenth,
# and there is no limit to hold a burst back.
KARPENTER_CPU_MILLI = 250


@dataclass(frozen=True)
class ReleaseSpec:
    """One Helm release: the arguments of `kubernetes.helm.v3.Release`."""

    name: str
    namespace: str
    chart: str
    version: str
    values: Values
    repository: str | None = None
    """HTTPS index; None for an OCI chart, whose address stands in `chart`."""
    skip_crds: bool = False
    timeout: int = field(default=RELEASE_TIMEOUT_SECONDS)


def release(
    settings: Settings,
    pin: ChartPin,
    chart: Chart,
    namespace: str,
    values: Values,
    *,
    skip_crds: bool = False,
) -> ReleaseSpec:
    """The release of a pinned chart under the stack's overrides: version, values, and a mirror's address."""
    source = chart.chart_source or settings.platform.chart_source or pin.repository
    oci = source.startswith("oci://")
    return ReleaseSpec(
        name=pin.chart,
        namespace=namespace,
        chart=f"{source.rstrip('/')}/{pin.chart}" if oci else pin.chart,
        version=chart.version or pin.version,
        values=merged(values, chart.values),
        repository=None if oci else source,
        skip_crds=skip_crds,
    )


def merged(base: Values, over: Values) -> dict[str, object]:
    """`over` laid on `base` as Helm does: mappings merge, everything else is replaced, null removes."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            result[key] = merged(cast(Values, below), cast(Values, value))
        else:
            result[key] = value
    return result


def gpu_tolerations(settings: Settings) -> list[dict[str, str]]:
    """Tolerations of every taint of every pool: what a DaemonSet of GPU nodes needs (KP9)."""
    seen: dict[tuple[str, str, str], None] = {}
    for pool in settings.gpu_pools:
        for taint in pool.taints:
            seen[taint.key, taint.value, taint.effect] = None
    return [
        {"key": key, "operator": "Equal", "value": value, "effect": effect} for key, value, effect in seen
    ]


def karpenter_crds(settings: Settings) -> ReleaseSpec:
    """The CRDs by themselves: Helm never upgrades those inside a chart."""
    chart = settings.platform.karpenter.model_copy(update={"values": {}})
    return release(settings, versions.KARPENTER_CRD, chart, KARPENTER_NAMESPACE, {})


def karpenter(settings: Settings, names: Names) -> ReleaseSpec:
    """The controller, on the system nodes, with the queue's NAME and the gate for warm spares.

    On an existing cluster the program makes no queue, and none is named: the controller stops at a queue that
    is not there (KP26). Its owner names one in `platform.karpenter.values`.
    """
    warm = any(model.scaling.warm_spares for model in settings.active_models)
    values: Values = {
        "replicas": 2,
        "nodeSelector": {"kubernetes.io/os": "linux", **system_nodes(settings)},
        "serviceAccount": {"name": KARPENTER_SERVICE_ACCOUNT},
        # Beside an existing Prometheus too, as the models' own monitors are: dashboards and alerts read its series.
        "serviceMonitor": {"enabled": True},
        "controller": {
            # Without it the controller asks the metadata service, which is a hop too far for a pod
            # (karpenter-provider-aws v1.14.1, pkg/operator/operator.go).
            "env": [{"name": "AWS_REGION", "value": settings.region}],
            "resources": {
                "requests": {"cpu": f"{KARPENTER_CPU_MILLI}m", "memory": "1Gi"},
                "limits": {"memory": "1Gi"},
            },
        },
        "settings": {
            "clusterName": names.cluster,
            "interruptionQueue": names.queue if settings.cluster.mode == "eks" else "",
            "eksControlPlane": True,
            # There is no private endpoint for the price list; without a NAT it could not be read at all.
            "isolatedVPC": False,
            "featureGates": {"capacityBuffer": warm, "reservedCapacity": True},
        },
    }
    return release(
        settings, versions.KARPENTER, settings.platform.karpenter, KARPENTER_NAMESPACE, values, skip_crds=True
    )


def needs_gpu_plugin(settings: Settings) -> bool:
    """Some pool runs AL2023, whose NVIDIA image has the driver and no device plugin; Bottlerocket has both."""
    return settings.platform.gpu_plugin.install and any(
        pool.ami.startswith("al2023") and pool.node_class == "ec2" for pool in settings.gpu_pools
    )


def gpu_plugin(settings: Settings) -> ReleaseSpec:
    """The device plugin on AL2023 nodes only: two plugins on one node would fight."""
    values: Values = {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]},
                                {"key": "headroom.dev/os", "operator": "In", "values": ["al2023"]},
                            ]
                        }
                    ]
                }
            }
        },
        "tolerations": gpu_tolerations(settings),
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
    }
    return release(settings, versions.GPU_PLUGIN, settings.platform.gpu_plugin, GPU_NAMESPACE, values)


def load_balancer_controller(settings: Settings, names: Names, vpc_id: object) -> ReleaseSpec:
    """The AWS Load Balancer Controller; region and VPC are stated since pods can't reach the metadata service."""
    values: Values = {
        "clusterName": names.cluster,
        "region": settings.region,
        "vpcId": vpc_id,
        "replicaCount": 2,
        "nodeSelector": system_nodes(settings),
        "serviceAccount": {"name": LOAD_BALANCER_SERVICE_ACCOUNT},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "podDisruptionBudget": {"maxUnavailable": 1},
        # Left out of the controller's IAM policy.
        "enableShield": False,
        "enableWaf": False,
        "enableWafv2": False,
        # Services of type LoadBalancer stay with the cloud provider: the program declares none.
        "enableServiceMutatorWebhook": False,
    }
    return release(
        settings,
        versions.LOAD_BALANCER_CONTROLLER,
        settings.platform.load_balancer_controller,
        KARPENTER_NAMESPACE,
        values,
    )
