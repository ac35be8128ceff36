"""GPU instance types as EC2 describes them, with what Karpenter reckons a pod may ask."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.aws.cloud import Answer, Cloud

# NVIDIA's table of compute capabilities (developer.nvidia.com/cuda-gpus), by Karpenter's name of the GPU.
CAPABILITY: Final[Mapping[str, str]] = {
    "v100": "7.0",
    "t4": "7.5",
    "a100": "8.0",
    "a10g": "8.6",
    "l4": "8.9",
    "l40s": "8.9",
    "h100": "9.0",
    "h200": "9.0",
    "b200": "10.0",
    "b300": "10.3",
    "rtx-pro-4500": "12.0",
    "rtx-pro-server-4500": "12.0",
    "rtx-pro-server-6000": "12.0",
}
# Karpenter v1.15: settings.vmMemoryOverheadPercent; kube-reserved and eviction of the EKS AMIs
# (instancetype/types.go kubeReservedResources, evictionThreshold, ENILimitedPods).
VM_OVERHEAD: Final = 0.075
EVICTION_MIB: Final = 100
KUBE_MIB: Final = 255
POD_MIB: Final = 11
CPU_SHARES: Final = ((1, 0.06), (1, 0.01), (2, 0.005))
CPU_REST: Final = 0.0025


@dataclass(frozen=True)
class Skipped:
    """A type that was left out, and why."""

    type: str
    reason: str


def gpu_types(cloud: Cloud) -> tuple[list[dict[str, Any]], list[Skipped]]:
    """Every x86 type with whole NVIDIA GPUs that the region knows, as catalogue entries without a price, and those
    left out. Raises UnansweredError.
    """
    found: list[dict[str, Any]] = []
    skipped: list[Skipped] = []
    wanted = [
        {"Name": "processor-info.supported-architecture", "Values": ["x86_64"]},
        {"Name": "instance-type", "Values": ["g*", "p*"]},
    ]
    pages = cloud.pages("ec2", "describe_instance_types", "InstanceTypes", Filters=wanted)
    for info in sorted(pages, key=_order):
        gpus = info.get("GpuInfo", {}).get("Gpus", ())
        if not gpus or gpus[0].get("Manufacturer") != "NVIDIA" or info.get("BareMetal"):
            continue
        name = str(gpus[0]["Name"]).lower().replace(" ", "-")
        count = sum(int(gpu.get("Count", 0)) for gpu in gpus)
        if count < 1:
            skipped.append(Skipped(info["InstanceType"], "a share of a GPU"))
        elif name not in CAPABILITY:
            skipped.append(
                Skipped(info["InstanceType"], f"GPU {gpus[0]['Name']} of unknown compute capability")
            )
        elif not baseline_gbps(info):
            skipped.append(Skipped(info["InstanceType"], "no network baseline"))
        else:
            found.append(_entry(info, name, count, gpus[0]))
    return found, skipped


def _order(info: Answer) -> tuple[str, int, str]:
    kind = str(info["InstanceType"])
    return kind.partition(".")[0], int(info["VCpuInfo"]["DefaultVCpus"]), kind


def _entry(info: Answer, name: str, count: int, gpu: Mapping[str, Any]) -> dict[str, Any]:
    vcpu, memory = int(info["VCpuInfo"]["DefaultVCpus"]), int(info["MemoryInfo"]["SizeInMiB"])
    return {
        "type": info["InstanceType"],
        "gpu": name,
        "gpus": count,
        "gpuMemoryMiB": int(gpu["MemoryInfo"]["SizeInMiB"]),
        "computeCapability": CAPABILITY[name],
        "vcpu": vcpu,
        "memoryGiB": memory // 1024,
        "allocatableCpuMilli": allocatable_cpu(vcpu),
        "allocatableMemoryMiB": allocatable_memory(memory, pods(info)),
        "nvmeGB": int(info.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0)),
        "networkGbps": baseline_gbps(info),
        "ebsMbps": int(info["EbsInfo"]["EbsOptimizedInfo"]["MaximumBandwidthInMbps"]),
    }


def baseline_gbps(info: Answer) -> float:
    """Baseline in Gbit/s: the stated performance where it is no "up to", else the sum of the cards' baselines; 0 where
    EC2 states neither. Cards may share less than their sum (g6e.24xlarge: 200 of 2 x 200).
    """
    network = info.get("NetworkInfo", {})
    stated = re.fullmatch(r"(\d+(?:\.\d+)?) Gigabit", str(network.get("NetworkPerformance", "")))
    if stated:
        return float(stated[1])
    cards = network.get("NetworkCards", ())
    return float(sum(float(card.get("BaselineBandwidthInGbps", 0.0)) for card in cards))


def pods(info: Answer) -> int:
    """Most pods by the default network card's addresses: interfaces x (addresses - 1) + 2."""
    network = info["NetworkInfo"]
    card = network["NetworkCards"][int(network.get("DefaultNetworkCardIndex", 0))]
    return int(card["MaximumNetworkInterfaces"]) * (int(network["Ipv4AddressesPerInterface"]) - 1) + 2


def allocatable_cpu(vcpu: int) -> int:
    """Millicores less kube-reserved: 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest.

    >>> allocatable_cpu(4)
    3920
    """
    reserved, left = 0.0, vcpu
    for cores, share in CPU_SHARES:
        reserved += 1000 * share * min(cores, left)
        left -= min(cores, left)
    return vcpu * 1000 - math.floor(reserved + 1000 * CPU_REST * left)


def allocatable_memory(memory_mib: int, most_pods: int) -> int:
    """MiB less the hypervisor's share, kube-reserved (255 + 11 a pod) and the eviction threshold.

    >>> allocatable_memory(16384, 58)
    14162
    """
    return memory_mib - math.ceil(memory_mib * VM_OVERHEAD) - KUBE_MIB - POD_MIB * most_pods - EVICTION_MIB


def offerings(cloud: Cloud, types: list[str]) -> dict[str, list[str]]:
    """Zones that offer each type. Raises UnansweredError."""
    found: dict[str, list[str]] = {name: [] for name in types}
    for entry in cloud.pages(
        "ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="availability-zone"
    ):
        if entry["InstanceType"] in found:
            found[entry["InstanceType"]].append(str(entry["Location"]))
    return {name: sorted(zones) for name, zones in found.items()}
