"""What AWS would refuse, each with a near twin that it takes."""

import json
from typing import Any

import pytest

from lab.cloud.refuse.account import Account
from lab.cloud.wire import UNKNOWN
from tests.unit.lab.cloud.resources import asked, refused

_TRUST = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
_READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}


def _document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


_CASES: list[tuple[str, str, Any, Any]] = [
    ("aws:s3/bucket:Bucket", "bucket", "Weights", "weights"),
    ("aws:s3/bucket:Bucket", "bucket", "a" * 64, "a" * 63),
    ("aws:s3/bucket:Bucket", "bucket", "10.0.0.1", "10.0.0.1a"),
    ("aws:s3/bucket:Bucket", "bucket", "wei..ghts", "wei.ghts"),
    ("aws:sqs/queue:Queue", "name", "q" * 81, "q" * 80),
    ("aws:iam/role:Role", "name", "r" * 65, "r" * 64),
    ("aws:iam/role:Role", "name", "rôle", "role"),
    ("aws:eks/cluster:Cluster", "name", "-dev", "dev-"),
    ("aws:eks/cluster:Cluster", "version", "1.35.2", "1.35"),
    ("aws:eks/cluster:Cluster", "version", "v1.35", "1.36"),
    ("aws:kms/alias:Alias", "name", "secrets", "alias/secrets"),
    ("aws:ec2/vpc:Vpc", "cidrBlock", "10.0.0.0/15", "10.0.0.0/16"),
    ("aws:ec2/vpc:Vpc", "cidrBlock", "10.0.0.1/16", "10.1.0.0/16"),
    ("aws:ec2/subnet:Subnet", "cidrBlock", "10.0.0.0/29", "10.0.0.0/28"),
    ("aws:ec2/vpc:Vpc", "tags", {"aws:name": "x"}, {"awsname": "x"}),
    ("aws:ec2/vpc:Vpc", "tags", {"k" * 129: "x"}, {"k" * 128: "x"}),
    ("aws:ec2/vpc:Vpc", "tags", {"k": "v" * 257}, {"k": "v" * 256}),
    ("aws:ec2/vpc:Vpc", "tags", {f"k{i}": "" for i in range(51)}, {f"k{i}": "" for i in range(50)}),
    ("aws:iam/role:Role", "assumeRolePolicy", _document(_READ), _document(_TRUST)),
    ("aws:iam/policy:Policy", "policy", _document(_TRUST), _document(_READ)),
    ("aws:iam/policy:Policy", "policy", "Calling __str__ on an Output[T]", _document(_READ)),
    (
        "aws:iam/policy:Policy",
        "policy",
        _document({**_READ, "Effect": "allow"}),
        _document({**_READ, "Effect": "Deny"}),
    ),
    (
        "aws:iam/role:Role",
        "assumeRolePolicy",
        _document({**_TRUST, "Condition": {"StringEquals": {"https://oidc.eks/id/A:sub": "s"}}}),
        _document({**_TRUST, "Condition": {"StringEquals": {"oidc.eks/id/A:sub": "s"}}}),
    ),
    (
        "aws:eks/cluster:Cluster",
        "vpcConfig",
        {"endpointPublicAccess": False},
        {"endpointPublicAccess": False, "endpointPrivateAccess": True},
    ),
]


@pytest.mark.parametrize(("type_", "key", "bad", "good"), _CASES)
def test_the_bad_one_is_refused_and_its_near_twin_is_not(type_: str, key: str, bad: Any, good: Any) -> None:
    (refusal,) = refused(asked(type_, **{key: bad}))
    assert refusal.path.startswith(key)
    assert refusal.name == "it"
    assert refused(asked(type_, **{key: good})) == []


@pytest.mark.parametrize(("type_", "key"), sorted({(case[0], case[1]) for case in _CASES}))
def test_a_value_that_is_not_known_yet_is_never_refused(type_: str, key: str) -> None:
    assert refused(asked(type_, **{key: UNKNOWN})) == []


def test_white_space_does_not_count_towards_a_policys_size() -> None:
    statement = {**_READ, "Resource": "r" * 5900}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]}, indent=120)
    assert len(document) > 6144
    assert refused(asked("aws:iam/policy:Policy", policy=document)) == []


def test_the_inline_policies_of_a_role_count_together() -> None:
    account = Account()
    document = _document({**_READ, "Resource": "r" * 6000})
    assert refused(asked("aws:iam/rolePolicy:RolePolicy", "a", role="nodes", policy=document), account) == []
    (refusal,) = refused(asked("aws:iam/rolePolicy:RolePolicy", "b", role="nodes", policy=document), account)
    assert refusal.allowed == "at most 10240 without white space"
    assert refused(asked("aws:iam/rolePolicy:RolePolicy", "c", role="others", policy=document), account) == []


def test_subnets_may_touch_but_not_overlap() -> None:
    account = Account()
    assert refused(asked("aws:ec2/subnet:Subnet", "a", vpcId="vpc-1", cidrBlock="10.0.0.0/24"), account) == []
    assert refused(asked("aws:ec2/subnet:Subnet", "b", vpcId="vpc-1", cidrBlock="10.0.1.0/24"), account) == []
    (refusal,) = refused(asked("aws:ec2/subnet:Subnet", "c", vpcId="vpc-1", cidrBlock="10.0.1.0/25"), account)
    assert refusal.given == "10.0.1.0/25, which overlaps 10.0.1.0/24 of b"
    assert refused(asked("aws:ec2/subnet:Subnet", "d", vpcId="vpc-2", cidrBlock="10.0.1.0/25"), account) == []


def test_a_subnet_outside_of_the_only_vpc_of_a_preview_is_refused() -> None:
    account = Account()
    refused(asked("aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16"), account)
    (refusal,) = refused(asked("aws:ec2/subnet:Subnet", "a", vpcId=UNKNOWN, cidrBlock="10.1.0.0/24"), account)
    assert refusal.given == "10.1.0.0/24, outside of its VPC 10.0.0.0/16"


def test_a_cluster_in_one_zone_is_refused() -> None:
    account = Account()
    subnets = [
        asked("aws:ec2/subnet:Subnet", name, vpcId="v", cidrBlock=cidr, availabilityZone=zone)
        for name, cidr, zone in (("a", "10.0.0.0/24", "us-east-1a"), ("b", "10.0.1.0/24", "us-east-1a"))
    ]
    for subnet in subnets:
        refused(subnet, account)
    ids = [f"subnet-0{subnet.hex(16)}" for subnet in subnets]
    (refusal,) = refused(asked("aws:eks/cluster:Cluster", vpcConfig={"subnetIds": ids}), account)
    assert refusal.given == "subnets in us-east-1a"


def test_a_name_has_one_owner_and_iam_ignores_case() -> None:
    account = Account()
    assert refused(asked("aws:iam/role:Role", "first", name="Nodes"), account) == []
    assert refused(asked("aws:iam/role:Role", "first", name="Nodes"), account) == []
    (refusal,) = refused(asked("aws:iam/role:Role", "second", name="nodes"), account)
    assert refusal.given == "'nodes', which first has"
