"""The account that the lab's Karpenter sees: the names and tags that the program gives what it makes in AWS."""

from collections.abc import Mapping
from typing import cast

from lab.control.settings import AwsSettings, Subnet
from specs import charts, network
from specs.names import Names
from specs.settings.stack import Settings


def aws_settings(settings: Settings, stack: str) -> AwsSettings:
    """The account of a stack: its subnets, private and public, and what its EC2NodeClasses name."""
    names = Names(stack)
    return AwsSettings(
        cluster=names.cluster,
        region=settings.region,
        zones=settings.zones,
        vpc_cidr=settings.network.cidr,
        node_role=names.node_role,
        queue=names.queue,
        subnets=tuple(_subnets(settings, names)),
    )


def feature_gates(settings: Settings, stack: str) -> str:
    """The gates that the program sets in Karpenter's chart, as its environment spells them."""
    values = charts.karpenter(settings, Names(stack)).values["settings"]
    gates = cast(Mapping[str, Mapping[str, bool]], values)["featureGates"]
    return ",".join(f"{name[0].upper()}{name[1:]}={str(on).lower()}" for name, on in sorted(gates.items()))


def _subnets(settings: Settings, names: Names) -> list[Subnet]:
    zones = network.subnets(settings.network.cidr, settings.zones)
    return [
        Subnet(zone=one.zone, cidr=cidr, tags=tags(names, one.zone))
        for one in zones
        for cidr, tags in (
            (one.private, network.private_subnet_tags),
            (one.public, network.public_subnet_tags),
        )
    ]
