"""GPU nodes as Karpenter wants them: EC2NodeClass and NodePool bodies (v1 APIs, Karpenter 1.15 CRDs)."""

from __future__ import annotations

from specs.catalogue import catalogue
from specs.names import Names
from specs.network import tags
from specs.settings.stack import GpuPool, Settings

Body = dict[str, object]
NODE_POOL = ("karpenter.sh/v1", "NodePool")
EC2_NODE_CLASS = ("karpenter.k8s.aws/v1", "EC2NodeClass")
KWOK_NODE_CLASS = ("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass")
DISCOVERY = "karpenter.sh/discovery"

# AL2023: SOCI parallel pull and unpack (amazon-eks-ami, nodeadm examples), and several images at a time.
AL2023_USER_DATA = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  featureGates:
    FastImagePull: true
  kubelet:
    config:
      serializeImagePulls: false
      maxParallelImagePulls: 4
"""
# Bottlerocket 1.44 and later (bottlerocket.dev, settings.container-runtime-plugins).
BOTTLEROCKET_USER_DATA = """\
[settings.container-runtime]
snapshotter = "soci"

[settings.container-runtime-plugins.soci-snapshotter]
pull-mode = "parallel-pull-unpack"

[settings.container-runtime-plugins.soci-snapshotter.parallel-pull-unpack]
max-concurrent-downloads-per-image = 10
concurrent-download-chunk-size = "16mb"
max-concurrent-unpacks-per-image = 10
discard-unpacked-layers = true
"""


# A NodeClaim stays until EC2 has ended its instance, which takes minutes.
TERMINATION_SECONDS = 1200


def removal_seconds(pool: GpuPool) -> int:
    """How long a pool may take to leave: the drain's deadline, then the instances' end.

    Pulumi's own patience is ten minutes (pulumi-kubernetes v4, pkg/await/await.go); a destroy would stop there.
    """
    return (pool.termination_grace_seconds or 0) + TERMINATION_SECONDS


def operating_system(pool: GpuPool) -> str:
    """`al2023` or `bottlerocket`."""
    return pool.ami.partition("@")[0]


def _volume(size_gib: int, pool: GpuPool | None) -> Body:
    volume: Body = {
        "volumeSize": f"{size_gib}Gi",
        "volumeType": "gp3",
        "encrypted": True,
        "deleteOnTermination": True,
    }
    if pool is not None:
        volume |= {"iops": pool.disk.iops, "throughput": pool.disk.throughput}
    return volume


def block_devices(pool: GpuPool) -> list[Body]:
    """The disk that holds images is the root device on AL2023 and the data device on Bottlerocket (KP20).

    `rootVolume` marks the kubelet's own disk, which is the same one: Karpenter takes its size for the ephemeral
    storage of a node (karpenter-provider-aws v1.14.1 pkg/providers/instancetype/types.go).
    """
    if operating_system(pool) == "al2023":
        return [{"deviceName": "/dev/xvda", "rootVolume": True, "ebs": _volume(pool.disk.size_gi_b, pool)}]
    return [
        # Bottlerocket's root holds the system alone; 4 GiB no longer suffice (Karpenter default is 6).
        {"deviceName": "/dev/xvda", "ebs": _volume(8, None)},
        {"deviceName": "/dev/xvdb", "rootVolume": True, "ebs": _volume(pool.disk.size_gi_b, pool)},
    ]


def node_class(names: Names, pool: GpuPool) -> Body:
    """EC2NodeClass: pinned image, named role, discovery by the tags the program itself puts on its private
    subnets and on the cluster's own security group (KP17)."""
    spec: Body = {
        "amiSelectorTerms": [{"alias": pool.ami}],
        "role": names.node_role,
        "subnetSelectorTerms": [{"tags": {DISCOVERY: names.cluster}}],
        "securityGroupSelectorTerms": [{"tags": {DISCOVERY: names.cluster}}],
        "blockDeviceMappings": block_devices(pool),
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpTokens": "required",
            # Pods get credentials by Pod Identity; one hop keeps them from the node's.
            "httpPutResponseHopLimit": 1,
            "httpProtocolIPv6": "disabled",
        },
        "userData": AL2023_USER_DATA if operating_system(pool) == "al2023" else BOTTLEROCKET_USER_DATA,
        "tags": tags(names) | {"Name": f"{names.cluster}-{pool.name}", "headroom:pool": pool.name},
    }
    if pool.disk.instance_store:
        spec["instanceStorePolicy"] = "RAID0"
    if "reserved" in pool.capacity_types:
        # Karpenter never matches reservations that are not selected, "open" ones included.
        spec["capacityReservationSelectorTerms"] = [{"tags": {"headroom:pool": pool.name}}]
    return {"metadata": {"name": pool.name}, "spec": spec}


def kwok_node_class(pool: GpuPool) -> Body:
    """The light alternative of the lab."""
    return {"metadata": {"name": pool.name}, "spec": {}}


def gpu_counts(settings: Settings, pool: GpuPool) -> list[int]:
    """GPU counts a node of the pool may have: exactly what its models ask, so that no GPU is stranded."""
    counts = {model.gpus_per_replica for model in settings.active_models if model.pool == pool.name}
    return sorted(counts or {entry.gpus for entry in catalogue().of_pool(pool)})


def requirements(settings: Settings, pool: GpuPool) -> list[Body]:
    """NodePool requirements, values as strings."""

    def within(key: str, values: list[str]) -> Body:
        return {"key": key, "operator": "In", "values": values}

    if pool.node_class == "kwok":
        types = [
            entry.type for entry in catalogue().of_pool(pool) if entry.gpus in gpu_counts(settings, pool)
        ]
        machine = [within("node.kubernetes.io/instance-type", types)]
    else:
        named = (
            within("karpenter.k8s.aws/instance-family", list(pool.families))
            if pool.families
            else within("node.kubernetes.io/instance-type", list(pool.instance_types or ()))
        )
        counts = [str(count) for count in gpu_counts(settings, pool)]
        machine = [named, within("karpenter.k8s.aws/instance-gpu-count", counts)]
    return [
        within("kubernetes.io/os", ["linux"]),
        within("kubernetes.io/arch", ["amd64"]),
        within("karpenter.sh/capacity-type", list(pool.capacity_types)),
        *machine,
        within("topology.kubernetes.io/zone", list(pool.zones or settings.zones)),
    ]


def node_pool(settings: Settings, pool: GpuPool) -> Body:
    """NodePool: GPU limit, taints, expiry with a deadline, and consolidation that never evicts a replica."""
    api, kind = KWOK_NODE_CLASS if pool.node_class == "kwok" else EC2_NODE_CLASS
    template: Body = {
        "nodeClassRef": {"group": api.partition("/")[0], "kind": kind, "name": pool.name},
        "requirements": requirements(settings, pool),
        # Karpenter's schema refuses an empty value; a taint without one is the same taint.
        "taints": [
            {key: text for key, text in taint.model_dump(by_alias=True).items() if text}
            for taint in pool.taints
        ],
        "expireAfter": f"{pool.expire_after_hours}h" if pool.expire_after_hours else "Never",
    }
    if pool.termination_grace_seconds is not None:
        template["terminationGracePeriod"] = f"{pool.termination_grace_seconds}s"
    return {
        "metadata": {"name": pool.name},
        "spec": {
            "template": {
                "metadata": {
                    "labels": {
                        "headroom.dev/pool": pool.name,
                        "headroom.dev/os": operating_system(pool),
                        # The device plugin's and the GPU exporter's DaemonSets select by this label.
                        "nvidia.com/gpu.present": "true",
                    }
                },
                "spec": template,
            },
            # A soft launch guard (eventually consistent); the hard cap is in the replicas.
            "limits": {"nvidia.com/gpu": str(pool.gpu_limit)},
            "disruption": {
                "consolidationPolicy": pool.consolidation.policy,
                "consolidateAfter": f"{pool.consolidation.after_seconds}s",
                "budgets": [
                    {"nodes": "100%", "reasons": ["Empty"]},
                    {"nodes": "1", "reasons": ["Drifted", "Underutilized"]},
                ],
            },
        },
    }
