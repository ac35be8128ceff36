"""What AWS components get from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True)
class Vpc:
    """A network that exists, in shape of `components.handles.NetworkHandle`."""

    vpc_id: pulumi.Output[str]
    private_subnet_ids: Sequence[pulumi.Output[str]]
    public_subnet_ids: Sequence[pulumi.Output[str]]
    ready: Sequence[pulumi.Resource]


def vpc(zones: int = 3) -> Vpc:
    """Known ids, one pair of subnets a zone, and a route to wait for."""
    route = aws.ec2.Route("way-out", route_table_id="rtb-1")
    known = pulumi.Output.from_input
    return Vpc(
        known("vpc-1"),
        [known(f"subnet-private-{index}") for index in range(zones)],
        [known(f"subnet-public-{index}") for index in range(zones)],
        [route],
    )


def agent() -> pulumi.Resource:
    """A cluster's add-on that stands for all that is ready."""
    return aws.eks.Addon("agent", cluster_name="headroom-unit", addon_name="eks-pod-identity-agent")
