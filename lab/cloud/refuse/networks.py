"""Addresses: the size of VPCs and subnets, subnets inside their VPC, no overlap, zones of an EKS cluster."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import cast

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account, Subnet
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import has_unknown


def vpc(asked: Asked, account: Account) -> Iterator[Problem]:
    """A VPC takes /16 to /28 (EC2 CreateVpc)."""
    if asked.type != "aws:ec2/vpc:Vpc":
        return
    given = asked.inputs.get("cidrBlock")
    network = _network(given)
    if network is not None:
        with account.lock:
            account.vpcs[f"vpc-0{asked.hex(16)}"] = network
    yield from _size("cidrBlock", given, network)


def subnet(asked: Asked, account: Account) -> Iterator[Problem]:
    """A subnet takes /16 to /28 inside its VPC and shares no address with another (EC2 CreateSubnet)."""
    if asked.type != "aws:ec2/subnet:Subnet":
        return
    given = asked.inputs.get("cidrBlock")
    network = _network(given)
    yield from _size("cidrBlock", given, network)
    if network is None:
        return
    vpc_id = "" if has_unknown(asked.inputs.get("vpcId")) else asked.text("vpcId")
    zone = "" if has_unknown(asked.inputs.get("availabilityZone")) else asked.text("availabilityZone")
    with account.lock:
        others = [
            other for other in account.subnets.values() if other.urn != asked.urn and other.vpc == vpc_id
        ]
        account.subnets[f"subnet-0{asked.hex(16)}"] = Subnet(
            urn=asked.urn, vpc=vpc_id, zone=zone, network=network
        )
        whole = _whole(vpc_id, account)
    if whole is not None and not network.subnet_of(whole):
        yield Problem(
            path="cidrBlock",
            given=f"{network}, outside of its VPC {whole}",
            allowed=f"a part of {whole}",
            fix="move the subnet or widen network.cidr",
        )
    for other in others:
        if network.overlaps(other.network):
            yield Problem(
                path="cidrBlock",
                given=f"{network}, which overlaps {other.network} of {other.urn.rpartition('::')[2]}",
                allowed="addresses that no other subnet of the VPC has",
                fix="widen network.cidr or use fewer zones",
            )


def cluster(asked: Asked, account: Account) -> Iterator[Problem]:
    """EKS wants subnets in at least two zones (EKS CreateCluster)."""
    if asked.type != "aws:eks/cluster:Cluster":
        return
    given: object = asked.object("vpcConfig").get("subnetIds")
    if not isinstance(given, list) or has_unknown(cast(list[object], given)):
        return
    ids = cast(list[str], given)
    with account.lock:
        subnets = [account.subnets[one] for one in ids if one in account.subnets]
    zones = {one.zone for one in subnets}
    if len(subnets) == len(ids) and "" not in zones and len(zones) < 2:
        yield Problem(
            path="vpcConfig.subnetIds",
            given=f"subnets in {', '.join(sorted(zones)) or 'no zone'}",
            allowed="subnets in at least two availability zones",
            fix="add a zone to network.zones",
        )


def _network(given: object) -> IPv4Network | None:
    if not isinstance(given, str) or has_unknown(given):
        return None
    try:
        return IPv4Network(given)
    except ValueError:
        return None


def _size(path: str, given: object, network: IPv4Network | None) -> Iterator[Problem]:
    if (
        isinstance(given, str)
        and not has_unknown(given)
        and (network is None or not 16 <= network.prefixlen <= 28)
    ):
        yield Problem(
            path=path,
            given=short(given),
            allowed="an IPv4 network from /16 to /28 without host bits, such as 10.0.0.0/16",
            fix="choose another size or the network's first address",
        )


def _whole(vpc_id: str, account: Account) -> IPv4Network | None:
    """At preview a new VPC has no id: the only VPC of the run is the one that is meant."""
    if vpc_id:
        return account.vpcs.get(vpc_id)
    return next(iter(account.vpcs.values())) if len(account.vpcs) == 1 else None
