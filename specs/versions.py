"""Every version and chart the program installs: one line each, changed here only.

Sources: the projects' release pages; charts are checked against their published value paths.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChartPin:
    """A Helm chart: where it is and which version is installed."""

    chart: str
    repository: str
    """OCI folder or HTTPS index."""
    version: str

    @property
    def is_oci(self) -> bool:
        """The chart is an OCI artifact; Helm takes its full address and no repository."""
        return self.repository.startswith("oci://")


KARPENTER = ChartPin("karpenter", "oci://public.ecr.aws/karpenter", "1.15.2")
KARPENTER_CRD = ChartPin("karpenter-crd", "oci://public.ecr.aws/karpenter", "1.15.2")
KEDA = ChartPin("keda", "https://kedacore.github.io/charts", "2.21.0")
PROMETHEUS = ChartPin("kube-prometheus-stack", "oci://ghcr.io/prometheus-community/charts", "88.5.3")
GPU_PLUGIN = ChartPin("nvidia-device-plugin", "https://nvidia.github.io/k8s-device-plugin", "0.20.0")
GPU_METRICS = ChartPin("dcgm-exporter", "https://nvidia.github.io/dcgm-exporter/helm-charts", "4.8.2")
LOAD_BALANCER_CONTROLLER = ChartPin(
    "aws-load-balancer-controller", "https://aws.github.io/eks-charts", "3.5.0"
)

# Kubernetes versions of EKS on 2026-11-30 (endoflife.date/amazon-eks). Deprecated ones still start, and are
# warned about; any other is refused because EKS would not create it under STANDARD support.
EKS_SUPPORTED = ("1.35", "1.36")
EKS_DEPRECATED = ("1.34",)
EKS_UNCONFIRMED = ("1.37",)

# Add-ons of pulumi-eks: without a version it asks EKS for the newest at every preview (nodejs/eks/cluster/cluster.ts,
# addons/cni-addon.ts). The newest kube-proxy of each version in the EKS user guide on 2026-10-10; the CNI is EKS's
# default for 1.35 and runs on 1.34 and 1.36 too. A version without a pin here is asked for.
VPC_CNI = "v1.22.4-eksbuild.3"
KUBE_PROXY = {
    "1.34": "v1.34.6-eksbuild.25",
    "1.35": "v1.35.3-eksbuild.25",
    "1.36": "v1.36.0-eksbuild.21",
}
