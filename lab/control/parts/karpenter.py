"""Karpenter: the real AWS provider over moto, or its core with the KWOK provider as the light alternative."""

import json

from lab.control.component import Component, Health
from lab.control.parts.context import Context

NAMESPACE = "kube-system"
LAUNCHES = "launches.json"


def karpenter(lab: Context) -> Component:
    """The AWS provider: real resolution of EC2NodeClass and NodePool, launches played as kwok nodes.

    It reads subnets and instance types once at its start, so moto is seeded before.
    """
    aws = lab.settings.aws
    environment = _environment(lab) | {
        "AWS_REGION": aws.region,
        "AWS_ENDPOINT_URL": lab.url("aws"),
        "AWS_ACCESS_KEY_ID": "lab",
        "AWS_SECRET_ACCESS_KEY": "lab",
        "AWS_EC2_METADATA_DISABLED": "true",
        "CLUSTER_NAME": aws.cluster,
        "CLUSTER_ENDPOINT": lab.url("apiserver", "https"),
        "INTERRUPTION_QUEUE": aws.queue,
        "HEADROOM_LAUNCH_FILE": str(lab.layout.config(LAUNCHES)),
    }
    component = _component(lab, "karpenter", environment)
    first = json.dumps({"seconds": lab.settings.launch_seconds})
    return component.model_copy(update={"initial": {lab.layout.config(LAUNCHES): first}})


def karpenter_core(lab: Context) -> Component:
    """The core with KWOKNodeClass; instance types from a file (name, offerings, resources)."""
    types = lab.layout.config("instance-types.json")
    environment = _environment(lab) | {"INSTANCE_TYPES_FILE_PATH": str(types)}
    component = _component(lab, "karpenter-core", environment)
    return component.model_copy(update={"files": {types: json.dumps(_instance_types(lab), indent=1)}})


def _environment(lab: Context) -> dict[str, str]:
    return {
        "KUBECONFIG": str(lab.layout.kubeconfig),
        "SYSTEM_NAMESPACE": NAMESPACE,
        "KUBERNETES_MIN_VERSION": "1.19.0-0",
        "METRICS_PORT": str(lab.ports["karpenter-metrics"]),
        "HEALTH_PROBE_PORT": str(lab.ports["karpenter"]),
        "DISABLE_LEADER_ELECTION": "true",
        "FEATURE_GATES": lab.settings.feature_gates,
        "LOG_LEVEL": "info",
        # A thousand instance types a time would let the heap grow to 370 MiB between collections.
        "GOMEMLIMIT": "200MiB",
    }


def _component(lab: Context, name: str, environment: dict[str, str]) -> Component:
    health = Health(url=f"{lab.url('karpenter')}/readyz", seconds=90.0)
    return Component(name=name, argv=(lab.tool(name),), environment=environment, health=health)


# vCPU, GiB and GPUs of what the example stacks use (https://aws.amazon.com/ec2/instance-types/g5/ and g6/),
# $/h on demand in us-east-1 (Karpenter v1.14.1 zz_generated.pricing_aws.go).
_GPU_TYPES = {
    "g5.xlarge": (4, 16, 1, 1.006),
    "g5.2xlarge": (8, 32, 1, 1.212),
    "g5.12xlarge": (48, 192, 4, 5.672),
    "g6.xlarge": (4, 16, 1, 0.8048),
    "g6.2xlarge": (8, 32, 1, 0.9776),
    "g6.12xlarge": (48, 192, 4, 4.6016),
}


def _instance_types(lab: Context) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {
                "cpu": str(cpu),
                "memory": f"{memory}Gi",
                "nvidia.com/gpu": str(gpus),
                "pods": "110",
                "ephemeral-storage": "150Gi",
            },
            "offerings": [
                {
                    "Price": price if capacity == "on-demand" else round(price * 0.4, 4),
                    "Available": True,
                    "Requirements": [
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [capacity]},
                        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]},
                    ],
                }
                for capacity in ("spot", "on-demand")
                for zone in lab.settings.aws.zones
            ],
        }
        for name, (cpu, memory, gpus, price) in _GPU_TYPES.items()
    ]
