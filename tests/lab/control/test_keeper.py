"""Crashes: every component of a full lab is killed and comes back by itself."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from lab.control.parts.registry import FULL
from lab.control.plane import Plane, up
from lab.control.report import status
from lab.control.single import kill


def _pid(full: Plane, name: str) -> int | None:
    return next(one.pid for one in status(full.state_dir).components if one.name == name)


@pytest.mark.parametrize("name", sorted(FULL - {"keeper"}))
def test_a_killed_component_comes_back_and_the_lab_is_well_again(
    full: Plane, name: str, eventually: Callable[..., Any]
) -> None:
    before = _pid(full, name)
    assert kill(full.state_dir, name)
    eventually(lambda: _pid(full, name) not in (None, before))
    eventually(lambda: status(full.state_dir).up)


def _subnets(full: Plane) -> list[str]:
    session: Any = boto3.Session("lab", "lab", region_name="us-east-1")
    ec2 = session.client("ec2", endpoint_url=full.url("aws"))
    found = ec2.describe_subnets(Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": ["headroom"]}])
    return sorted(subnet["SubnetId"] for subnet in found["Subnets"])


def test_the_account_has_the_same_ids_after_a_crash(full: Plane, eventually: Callable[..., Any]) -> None:
    before = _subnets(full)
    pid = _pid(full, "aws")
    kill(full.state_dir, "aws")
    eventually(lambda: _pid(full, "aws") not in (None, pid))
    eventually(lambda: status(full.state_dir).up)
    assert _subnets(full) == before


def test_a_killed_keeper_is_started_again_by_up(full: Plane) -> None:
    before = _pid(full, "keeper")
    assert kill(full.state_dir, "keeper")
    up(full.state_dir, FULL)
    assert _pid(full, "keeper") not in (None, before)
