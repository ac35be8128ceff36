"""The VPC's resources."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from components.network import Network, NetworkArgs
from specs.names import Names
from specs.network import INTERFACE_ENDPOINTS
from tests.unit.components.recording import Recording, record
from tests.unit.specs.stack import settings

ZONES = ["us-east-1a", "us-east-1b", "us-east-1c"]


@cache
def plain() -> Recording:
    """Of a stack with nothing out of the ordinary."""
    return declared()


def declared(**network: Any) -> Recording:
    found = settings({}, network={"zones": ZONES, **network})
    return record(lambda: _declare(found))


def _declare(found: Any) -> None:
    Network("network", NetworkArgs(settings=found, names=Names("unit")))


def test_each_zone_has_a_private_and_a_public_subnet_named_by_the_zone() -> None:
    """A name by position would replace the others when a zone goes."""
    found = plain()
    assert [entry.name for entry in found.all("Subnet")] == [
        f"{kind}-{zone}" for kind in ("public", "private") for zone in ZONES
    ]
    assert all(entry.inputs["availabilityZone"] == entry.name[-10:] for entry in found.all("Subnet"))


def test_nothing_gets_a_public_address_by_itself() -> None:
    assert not any(entry.inputs.get("mapPublicIpOnLaunch") for entry in plain().all("Subnet"))


@pytest.mark.parametrize(("gateways", "zones"), [("perZone", ZONES), ("single", ZONES[:1])])
def test_gateways_stand_in_each_zone_or_in_one(gateways: str, zones: list[str]) -> None:
    found = declared(natGateways=gateways)
    assert [entry.name for entry in found.all("NatGateway")] == [f"nat-{zone}" for zone in zones]
    assert [entry.name for entry in found.all("Eip")] == [f"nat-{zone}" for zone in zones]


@pytest.mark.parametrize(("gateways", "last"), [("perZone", "nat-us-east-1c"), ("single", "nat-us-east-1a")])
def test_a_private_subnet_leaves_through_its_own_zones_gateway_where_there_is_one(
    gateways: str, last: str
) -> None:
    found = declared(natGateways=gateways)
    assert f"NatGateway {last}" in found.waits_for(found.one("Route", "private-us-east-1c"))


def test_the_bucket_is_reached_without_a_gateway_in_every_configuration() -> None:
    """Weights through NAT would cost as much as the GPU that waits for them."""
    for endpoints in (True, False):
        entry = declared(endpoints=endpoints).one("VpcEndpoint", "s3")
        assert entry.inputs["vpcEndpointType"] == "Gateway"
        assert len(entry.inputs["routeTableIds"]) == len(ZONES)


def test_private_endpoints_are_left_out_when_not_wanted() -> None:
    assert [entry.name for entry in declared(endpoints=False).all("VpcEndpoint")] == ["s3"]


def test_private_endpoints_answer_to_their_public_names_for_the_vpc_alone() -> None:
    found = plain()
    private = {e.name: e for e in found.all("VpcEndpoint") if e.inputs["vpcEndpointType"] == "Interface"}
    assert set(private) == set(INTERFACE_ENDPOINTS)
    assert {"eks-auth", "sts", "sqs", "ecr.dkr"} <= set(private)
    assert all(entry.inputs["privateDnsEnabled"] for entry in private.values())
    rule = found.one("SecurityGroupIngressRule").inputs
    assert (rule["cidrIpv4"], rule["fromPort"], rule["toPort"]) == ("10.0.0.0/16", 443, 443)


def test_the_default_group_lets_nothing_through() -> None:
    group = plain().one("DefaultSecurityGroup").inputs
    assert (group["ingress"], group["egress"]) == ([], [])


@pytest.mark.parametrize(("kind", "role"), [("private", "internal-elb"), ("public", "elb")])
def test_balancers_and_karpenter_find_subnets_by_tag(kind: str, role: str) -> None:
    for entry in plain().all("Subnet"):
        if entry.name.startswith(kind):
            assert entry.inputs["tags"][f"kubernetes.io/role/{role}"] == "1"
            assert ("karpenter.sh/discovery" in entry.inputs["tags"]) is (kind == "private")


def test_what_a_node_needs_waits_for_the_way_out() -> None:
    found = plain()
    assert "Route public" in found.waits_for(found.one("Route", "private-us-east-1a"))
