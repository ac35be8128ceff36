"""Subnets, routes and endpoints of the VPC as plain values."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from specs.names import Names
from specs.settings.stack import Settings

# Interface endpoints that a node in a private subnet talks to (EKS user guide, private clusters; Karpenter
# getting-started, isolated VPC). S3 has a gateway endpoint, which costs nothing.
INTERFACE_ENDPOINTS = (
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticloadbalancing",
    "logs",
    "sqs",
    "ssm",
    "sts",
)
# The control plane reaches these ports on nodes; each one left out breaks a webhook or an aggregated API.
CONTROL_PLANE_PORTS = {
    443: "webhooks behind a service on 443",
    6443: "KEDA metrics API server",
    8443: "Karpenter webhook and metrics",
    9443: "load balancer controller and KEDA admission webhooks",
    10250: "kubelet and Prometheus operator webhook",
}


@dataclass(frozen=True)
class ZoneSubnets:
    """One availability zone's subnets, as CIDR blocks."""

    zone: str
    private: str
    public: str


def subnets(cidr: str, zones: tuple[str, ...]) -> list[ZoneSubnets]:
    """Lay out a VPC range: each zone gets a large private subnet (pods and nodes) and a small public one
    (load balancers, NAT).

    The range is cut into a power of two of equal blocks, one more than the zones; the last block holds the
    public subnets, so that a zone added later leaves the others where they are while the blocks suffice.

    >>> subnets("10.0.0.0/16", ("a", "b", "c"))[0]
    ZoneSubnets(zone='a', private='10.0.0.0/18', public='10.0.192.0/21')
    """
    network = ipaddress.IPv4Network(cidr)
    bits = max(2, len(zones).bit_length())
    blocks = list(network.subnets(prefixlen_diff=bits))
    publics = list(blocks[-1].subnets(prefixlen_diff=3))
    return [
        ZoneSubnets(zone, str(private), str(public))
        for zone, private, public in zip(zones, blocks, publics, strict=False)
    ]


def zones_with_nat(settings: Settings) -> tuple[str, ...]:
    """Zones that hold a NAT gateway."""
    return settings.zones if settings.network.nat_gateways == "perZone" else settings.zones[:1]


def nat_zone(settings: Settings, zone: str) -> str:
    """The zone whose NAT gateway serves `zone`."""
    return zone if settings.network.nat_gateways == "perZone" else settings.zones[0]


def private_subnet_tags(names: Names, zone: str) -> dict[str, str]:
    """Tags by which internal load balancers and Karpenter find private subnets."""
    return tags(names) | {
        "Name": f"{names.cluster}-private-{zone}",
        "kubernetes.io/role/internal-elb": "1",
        "karpenter.sh/discovery": names.cluster,
    }


def public_subnet_tags(names: Names, zone: str) -> dict[str, str]:
    """Tags by which internet-facing load balancers find public subnets."""
    return tags(names) | {"Name": f"{names.cluster}-public-{zone}", "kubernetes.io/role/elb": "1"}


def tags(names: Names) -> dict[str, str]:
    """Tags of every AWS resource of the stack."""
    return {"headroom:stack": names.stack, "headroom:cluster": names.cluster}


def endpoint_service(settings: Settings, service: str) -> str:
    """Full name of an AWS service's VPC endpoint."""
    return f"com.amazonaws.{settings.region}.{service}"
