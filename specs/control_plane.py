"""The EKS cluster's plain values: add-ons, log types, namespaces, system machine image."""

from __future__ import annotations

import re

from specs import versions
from specs.labels import SYSTEM_LABEL
from specs.names import GPU_NAMESPACE, KEDA_NAMESPACE, METRICS_NAMESPACE
from specs.settings.stack import Settings

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
LOG_RETENTION_DAYS = 30
SYSTEM_DISK_GIB = 50
DEFAULT_HPA_SYNC_SECONDS = 15

# Installed once nodes exist: CoreDNS without a node is DEGRADED for 20 minutes (pulumi-eks issue 1819).
ADDONS_AFTER_NODES = ("coredns", "eks-node-monitoring-agent")
POD_IDENTITY_AGENT = "eks-pod-identity-agent"
ADDON_NAMESPACE = "kube-system"
DISK_DRIVER = "aws-ebs-csi-driver"
DISK_SERVICE_ACCOUNT = "ebs-csi-controller-sa"
DISK_POLICY = "service-role/AmazonEBSCSIDriverPolicy"
DISK_VALUES: dict[str, object] = {
    "defaultStorageClass": {"enabled": True},
    "controller": {"nodeSelector": SYSTEM_LABEL},
}

_ARM_FAMILY = re.compile(r"[a-z]+\d+g[a-z-]*\.")


def system_ami_type(instance_types: tuple[str, ...]) -> str:
    """EKS AMI type of the system nodes; Graviton families carry a g after the generation."""
    arm = _ARM_FAMILY.match(instance_types[0]) is not None
    return "AL2023_ARM_64_STANDARD" if arm else "AL2023_x86_64_STANDARD"


def pinned_addons(settings: Settings) -> dict[str, str]:
    """Add-ons whose version is stated for this Kubernetes version, which EKS must offer."""
    proxy = versions.KUBE_PROXY.get(settings.cluster.version)
    return {"vpc-cni": versions.VPC_CNI, **({"kube-proxy": proxy} if proxy else {})}


def hpa_sync(settings: Settings) -> dict[str, object] | None:
    """The control plane's HPA sync period; None leaves the Kubernetes default of 15 s."""
    if settings.cluster.hpa_sync_seconds == DEFAULT_HPA_SYNC_SECONDS:
        return None
    period = f"{settings.cluster.hpa_sync_seconds}s"
    return {"horizontalPodAutoscalerControllerConfig": {"horizontalPodAutoscalerSyncPeriod": period}}


def namespaces(settings: Settings) -> dict[str, dict[str, str]]:
    """Every namespace the program makes, with its Pod Security labels.

    Device plugin, GPU exporter and node exporter mount host paths, which only `privileged` admits; engines and
    routers run under `restricted`. There too, what falls short of it is told to whoever applies it and to the
    audit log.
    """
    levels = {model.namespace: "restricted" for model in settings.active_models}
    platform = settings.platform
    if platform.keda.install:
        levels[KEDA_NAMESPACE] = "restricted"
    if platform.prometheus.install:
        levels[METRICS_NAMESPACE] = "privileged"
    if platform.gpu_plugin.install or platform.gpu_metrics.install:
        levels[GPU_NAMESPACE] = "privileged"
    served = {model.namespace for model in settings.active_models if model.ingress.enabled}
    # The load balancer controller then holds a new router back until its target is healthy.
    gate = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}
    return {
        name: {
            "pod-security.kubernetes.io/enforce": level,
            "pod-security.kubernetes.io/audit": "restricted",
            "pod-security.kubernetes.io/warn": "restricted",
            "app.kubernetes.io/part-of": "headroom",
            **(gate if name in served and settings.cluster.mode == "eks" else {}),
        }
        for name, level in sorted(levels.items())
    }
