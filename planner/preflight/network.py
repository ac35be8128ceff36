"""Free addresses in each zone's private subnet against the plan's worst case."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from planner.aws.cloud import Cloud, UnansweredError
from planner.preflight.check import Check, unknown
from specs.gpus import demands
from specs.names import Names
from specs.network import subnets
from specs.nodes import DISCOVERY
from specs.settings.stack import Settings

ADDRESSES_A_NODE = 60
"""The VPC CNI keeps a warm interface beside the used one (WARM_ENI_TARGET 1); GPU types hold up to 30 addresses
each on most sizes (EKS best practices, networking; EC2 user guide, addresses per interface)."""
AWS_KEEPS = 5
"""Addresses of every subnet that AWS keeps for itself."""
OVERHEAD = 40
"""Control plane interfaces, endpoints, load balancers and NAT in a zone."""


def check_addresses(cloud: Cloud, settings: Settings, names: Names) -> Iterator[Check]:
    """One check a zone. Every node may land in one zone when the others have no capacity."""
    nodes = settings.cluster.system_nodes.max + sum(
        demand.gpus // demand.model.gpus_per_replica for demand in demands(settings)
    )
    wanted = nodes * ADDRESSES_A_NODE + OVERHEAD
    needed = (
        f"{wanted} addresses: {nodes} nodes x {ADDRESSES_A_NODE} + {OVERHEAD}, should all land in one zone"
    )
    try:
        free = _free(cloud, names)
    except UnansweredError as error:
        for zone in settings.zones:
            yield unknown(f"addresses:{zone}", error, needed)
        return
    for layout in subnets(settings.network.cidr, settings.zones):
        planned = ipaddress.ip_network(layout.private).num_addresses - AWS_KEEPS
        found = free.get(layout.zone)
        have = planned if found is None else found
        text = f"{have} free" if found is not None else f"{have} planned in {layout.private}, no subnet yet"
        if have >= wanted:
            yield Check(f"addresses:{layout.zone}", "pass", text, needed)
        else:
            fix = "use a wider network.cidr (/16), or lower replicas.max"
            yield Check(f"addresses:{layout.zone}", "fail", text, needed, fix)


def _free(cloud: Cloud, names: Names) -> dict[str, int]:
    """Free addresses by zone of the stack's private subnets; empty before the first `pulumi up`."""
    found: dict[str, int] = {}
    for subnet in cloud.pages(
        "ec2",
        "describe_subnets",
        "Subnets",
        Filters=[{"Name": f"tag:{DISCOVERY}", "Values": [names.cluster]}],
    ):
        zone = str(subnet["AvailabilityZone"])
        found[zone] = found.get(zone, 0) + int(subnet["AvailableIpAddressCount"])
    return found
