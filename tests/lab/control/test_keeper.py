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


def test_the_account_has_its_instances_after_a_crash(full: Plane, eventually: Callable[..., Any]) -> None:
    session: Any = boto3.Session("lab", "lab", region_name="us-east-1")
    ec2, ssm = (session.client(name, endpoint_url=full.url("aws")) for name in ("ec2", "ssm"))
    alias = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id"
    image = ssm.get_parameter(Name=alias)["Parameter"]["Value"]
    asked = {"ImageId": image, "InstanceType": "g6.xlarge", "SubnetId": _subnets(full)[0]}
    made = ec2.run_instances(MinCount=3, MaxCount=3, **asked)["Instances"]
    ids = [one["InstanceId"] for one in made]
    ec2.create_tags(Resources=ids[:1], Tags=[{"Key": "kept", "Value": "yes"}])
    ec2.terminate_instances(InstanceIds=ids[2:])

    def seen() -> list[Any]:
        pages = ec2.describe_instances(InstanceIds=ids)["Reservations"]
        found = sorted(
            (one for page in pages for one in page["Instances"]), key=lambda one: one["InstanceId"]
        )
        names = ("InstanceId", "ImageId", "PrivateIpAddress", "Tags", "State")
        return [{name: one.get(name) for name in names} for one in found]

    before, pid = seen(), _pid(full, "aws")
    kill(full.state_dir, "aws")
    eventually(lambda: _pid(full, "aws") not in (None, pid))
    eventually(lambda: status(full.state_dir).up)
    assert seen() == before
    ec2.terminate_instances(InstanceIds=ids)


def test_a_killed_keeper_is_started_again_by_up(full: Plane) -> None:
    before = _pid(full, "keeper")
    assert kill(full.state_dir, "keeper")
    up(full.state_dir, FULL)
    assert _pid(full, "keeper") not in (None, before)
