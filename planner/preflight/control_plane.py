"""Versions that AWS must offer: the Kubernetes version and the pools' machine images."""

from __future__ import annotations

from planner.aws.cloud import Cloud, UnansweredError
from planner.preflight.check import Check, unknown
from specs.settings.stack import GpuPool, Settings

STANDARD = "standard_support"


def check_version(cloud: Cloud, settings: Settings) -> Check:
    """EKS offers the version in standard support: the program's upgrade policy takes no other."""
    version, name = settings.cluster.version, "eks-version"
    needed = f"Kubernetes {version} in standard support"
    try:
        offered = {
            str(entry["clusterVersion"]): str(
                entry.get("versionStatus") or entry.get("status") or "unknown status"
            )
            for entry in cloud.pages("eks", "describe_cluster_versions", "clusterVersions", includeAll=True)
        }
    except UnansweredError as error:
        return unknown(name, error, needed)
    if not offered:
        return Check(name, "unknown", "an empty list of versions", needed, "run it again in a minute")
    status = offered.get(version)
    good = sorted(entry for entry, text in offered.items() if _standard(text))
    if status is not None and _standard(status):
        return Check(name, "pass", f"{version}: {status}", needed)
    found = f"{version}: {status}" if status else f"not offered; {', '.join(sorted(offered))} are"
    return Check(
        name, "fail", found, needed, f"set cluster.version to one of {', '.join(good) or 'none offered'}"
    )


def check_addon(cloud: Cloud, settings: Settings, addon: str, version: str) -> Check:
    """EKS offers the pinned version of an add-on for this Kubernetes version; old builds are withdrawn."""
    name, kubernetes = f"addon:{addon}", settings.cluster.version
    needed = f"{addon} {version} for Kubernetes {kubernetes}"
    try:
        offered = [
            str(entry["addonVersion"])
            for found in cloud.pages(
                "eks", "describe_addon_versions", "addons", kubernetesVersion=kubernetes, addonName=addon
            )
            for entry in found["addonVersions"]
        ]
    except UnansweredError as error:
        return unknown(name, error, needed)
    if version in offered:
        return Check(name, "pass", version, needed)
    found = f"not offered; {', '.join(offered[:3]) or 'none'} are"
    return Check(name, "fail", found, needed, "change its pin in specs/versions.py")


def _standard(status: str) -> bool:
    return status.lower().replace("-", "_") == STANDARD


def parameter(settings: Settings, pool: GpuPool) -> str:
    """The SSM parameter that Karpenter resolves a pool's alias by for NVIDIA types (amifamily/bottlerocket.go,
    al2023.go).
    """
    family, _, version = pool.ami.partition("@")
    kubernetes = settings.cluster.version
    if family == "bottlerocket":
        return f"/aws/service/bottlerocket/aws-k8s-{kubernetes}-nvidia/x86_64/{version.lstrip('v')}/image_id"
    image = f"amazon-eks-node-al2023-x86_64-nvidia-{kubernetes}-{version}"
    folder = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/x86_64/nvidia"
    return f"{folder}/{image}/image_id"


def check_ami(cloud: Cloud, settings: Settings, pool: GpuPool) -> Check:
    """The pinned machine image exists for this Kubernetes version."""
    name, path = f"ami:{pool.name}", parameter(settings, pool)
    needed = f"{pool.ami} for Kubernetes {settings.cluster.version}, by {path}"
    try:
        answer = cloud.ask("ssm", "get_parameter", absent=("ParameterNotFound",), Name=path)
    except UnansweredError as error:
        return unknown(name, error, needed)
    if answer is None:
        fix = "pin a published image of this Kubernetes version in gpuPools[].ami"
        return Check(name, "fail", "no such parameter", needed, fix)
    return Check(name, "pass", str(answer["Parameter"]["Value"]), needed)
