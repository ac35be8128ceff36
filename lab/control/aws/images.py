"""The AMIs behind EKS's SSM aliases: one per path, the same in each run, with the architecture that it names."""

import hashlib
import re
from datetime import UTC, datetime
from typing import Any

# Paths: Karpenter v1.14.1 pkg/providers/amifamily/al2023.go and bottlerocket.go.
_AL2023 = re.compile(
    r"/aws/service/eks/optimized-ami/[0-9.]+/amazon-linux-2023/(?P<architecture>x86_64|arm64)"
    r"/(?:standard|nvidia|neuron)/(?:recommended|amazon-eks-node-al2023-[a-z0-9_-]+-[0-9.]+-v[0-9]{8})/image_id"
)
_BOTTLEROCKET = re.compile(
    r"/aws/service/bottlerocket/aws-k8s-[0-9.]+(?:-nvidia)?/(?P<architecture>x86_64|arm64)"
    r"/(?:latest|[0-9]+\.[0-9]+\.[0-9]+)/image_id"
)
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)


def image_of(path: str, backend: Any) -> str | None:
    """The image id for an SSM path, made known to moto's EC2 ``backend``; None when the path is no alias of EKS.

    Every well-formed version exists here: whether AWS published it, only AWS knows.
    """
    found = _AL2023.fullmatch(path) or _BOTTLEROCKET.fullmatch(path)
    if not found:
        return None
    identity = f"ami-{hashlib.sha256(path.encode()).hexdigest()[:17]}"
    if identity not in backend.amis:
        from moto.ec2.models.amis import Ami

        # RegisterImage of moto drops the architecture, without which Karpenter ignores the image.
        backend.amis[identity] = Ami(
            backend,
            ami_id=identity,
            name=path.removeprefix("/aws/service/").removesuffix("/image_id").replace("/", "-"),
            description="Made up by the lab",
            owner_id="amazon",
            owner_alias="amazon",
            public=True,
            virtualization_type="hvm",
            architecture=found.group("architecture"),
            hypervisor="xen",
            root_device_type="ebs",
            root_device_name="/dev/xvda",
            creation_date=_CREATED,
        )
    return identity
