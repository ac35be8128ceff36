"""The VPC's layout as arithmetic."""

from __future__ import annotations

import ipaddress
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from specs.network import CONTROL_PLANE_PORTS, subnets

ZONES = tuple(f"us-east-1{letter}" for letter in "abcdef")


@given(prefix=st.integers(16, 20), count=st.integers(2, 6), block=st.integers(0, 255))
def test_subnets_never_overlap_and_lie_inside_the_vpc(prefix: int, count: int, block: int) -> None:
    vpc = ipaddress.IPv4Network(
        (int(ipaddress.IPv4Address("10.0.0.0")) + block * 2**16, prefix), strict=False
    )
    layout = subnets(str(vpc), ZONES[:count])
    blocks = [ipaddress.IPv4Network(cidr) for entry in layout for cidr in (entry.private, entry.public)]
    assert len(blocks) == 2 * count
    assert all(net.subnet_of(vpc) for net in blocks)
    assert not any(a.overlaps(b) for a, b in combinations(blocks, 2))
    assert all(net.prefixlen <= 28 for net in blocks)  # the smallest subnet AWS takes


def test_a_zone_added_within_the_same_cut_leaves_the_others_where_they_are() -> None:
    before, after = subnets("10.0.0.0/16", ZONES[:2]), subnets("10.0.0.0/16", ZONES[:3])
    assert after[:2] == before


def test_the_control_plane_reaches_every_webhook_and_aggregated_api() -> None:
    """KD17: each port left out makes an API group unavailable or admission fail."""
    assert {443, 6443, 9443, 10250} <= set(CONTROL_PLANE_PORTS)
