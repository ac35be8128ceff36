"""Ids, ARNs and names as AWS forms them, the same in each run."""

import re

import pytest

from lab.cloud.aws.book import KINDS, AwsBook
from lab.cloud.journal import Journal
from lab.cloud.wire import UNKNOWN
from tests.unit.lab.cloud.resources import asked


@pytest.mark.parametrize(
    ("type_", "inputs", "pattern"),
    [
        ("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}, r"vpc-0[0-9a-f]{16}"),
        ("aws:ec2/natGateway:NatGateway", {"subnetId": "subnet-1"}, r"nat-0[0-9a-f]{16}"),
        ("aws:iam/role:Role", {"name": "nodes"}, "nodes"),
        ("aws:eks/addon:Addon", {"clusterName": "c", "addonName": "coredns"}, "c:coredns"),
        ("aws:sqs/queue:Queue", {"name": "q"}, "https://sqs.us-east-1.amazonaws.com/111122223333/q"),
        ("aws:kms/key:Key", {}, r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ],
)
def test_an_id_looks_like_its_services(type_: str, inputs: dict[str, str], pattern: str) -> None:
    identity, _ = AwsBook(Journal()).answer(asked(type_, **inputs))
    assert re.fullmatch(pattern, identity)


@pytest.mark.parametrize("type_", sorted(KINDS))
def test_every_type_answers_a_preview_whose_inputs_are_all_unknown(type_: str) -> None:
    keys = "name bucket clusterName tags vpcConfig policy url subnetIds serviceName arn queueUrl fileSystemId"
    unknown = dict.fromkeys([*keys.split(), "ecrRepositoryPrefix"], UNKNOWN)
    identity, extra = AwsBook(Journal()).answer(asked(type_, **unknown))
    assert identity
    assert extra["region"] == "us-east-1"


def test_a_replacement_gets_another_id_and_an_update_does_not() -> None:
    book = AwsBook(Journal())
    first, _ = book.answer(asked("aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16"))
    tagged, _ = book.answer(asked("aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16", tags={"a": "b"}))
    other, _ = book.answer(asked("aws:ec2/vpc:Vpc", cidrBlock="10.1.0.0/16"))
    assert first == tagged != other


def test_a_resource_without_a_name_gets_its_logical_one_with_a_suffix() -> None:
    inputs, refusals = AwsBook(Journal()).check(asked("aws:iam/role:Role", "nodes"), {})
    assert re.fullmatch("nodes-[0-9a-f]{7}", inputs["name"])
    assert refusals == []


def test_a_generated_name_stays_when_the_resource_changes() -> None:
    inputs, _ = AwsBook(Journal()).check(
        asked("aws:iam/role:Role", "nodes", path="/x/"), {"name": "nodes-1234567"}
    )
    assert inputs["name"] == "nodes-1234567"


def test_a_generated_name_fits_the_services_limit() -> None:
    inputs, refusals = AwsBook(Journal()).check(asked("aws:s3/bucket:Bucket", "W" * 80), {})
    assert len(inputs["bucket"]) == 63
    assert refusals == []


def test_default_tags_reach_every_resource() -> None:
    book = AwsBook(Journal())
    book.configure({"region": "eu-west-1", "defaultTags": '{"tags": {"project": "headroom"}}'})
    assert book.region() == "eu-west-1"
    _, extra = book.answer(asked("aws:sqs/queue:Queue", name="q", tags={"a": "b"}))
    assert extra["tagsAll"] == {"project": "headroom", "a": "b"}


def test_a_cluster_is_in_the_vpc_of_its_subnets() -> None:
    book = AwsBook(Journal())
    subnet = asked(
        "aws:ec2/subnet:Subnet", vpcId="vpc-1", cidrBlock="10.0.0.0/24", availabilityZone="us-east-1a"
    )
    book.check(subnet, {})
    identity, _ = book.answer(subnet)
    _, extra = book.answer(asked("aws:eks/cluster:Cluster", name="c", vpcConfig={"subnetIds": [identity]}))
    assert extra["vpcConfig"]["vpcId"] == "vpc-1"


def test_a_type_without_a_recording_is_noted() -> None:
    journal = Journal()
    AwsBook(journal).check(asked("aws:lambda/function:Function", "f"), {})
    assert journal.notes == (
        "aws:lambda/function:Function is not in the recorded cloud's book: f gets an id and an ARN only",
    )
