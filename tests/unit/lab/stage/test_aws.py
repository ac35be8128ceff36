"""The lab's account against what the program itself declares: a renamed queue or tag is found before AWS does."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.control.settings import AwsSettings
from lab.render import Declared, render
from lab.stage.aws import aws_settings, feature_gates
from specs import checks
from specs.nodes import DISCOVERY
from specs.settings.source import load, stack_path
from specs.settings.stack import Settings

PROJECT = Path(__file__).resolve().parents[4]
STACK = "prod"


@pytest.fixture(scope="module")
def settings() -> Settings:
    found, _ = checks.examine(load(stack_path(PROJECT, STACK)).config)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def account(settings: Settings) -> AwsSettings:
    return aws_settings(settings, STACK)


@pytest.fixture(scope="module")
def declared() -> list[Declared]:
    return render(PROJECT / "__main__.py", STACK, load(stack_path(PROJECT, STACK)).config)


def _of(declared: list[Declared], kind: str) -> list[Declared]:
    return [one for one in declared if one.type == kind]


def test_the_subnets_are_those_that_the_program_declares(
    account: AwsSettings, declared: list[Declared]
) -> None:
    made = [one.inputs for one in _of(declared, "aws:ec2/subnet:Subnet")]
    theirs = sorted((str(one["availabilityZone"]), str(one["cidrBlock"]), repr(one["tags"])) for one in made)
    ours = sorted((one.zone, one.cidr, repr(dict(sorted(one.tags.items())))) for one in account.subnets)
    assert ours == theirs


def test_the_queue_the_role_and_the_discovery_tag_are_those_that_the_program_declares(
    account: AwsSettings, declared: list[Declared]
) -> None:
    assert [one.inputs["name"] for one in _of(declared, "aws:sqs/queue:Queue")] == [account.queue]
    assert account.node_role in [one.inputs["name"] for one in _of(declared, "aws:iam/role:Role")]
    (tag,) = _of(declared, "aws:ec2/tag:Tag")
    assert (tag.inputs["key"], tag.inputs["value"]) == (DISCOVERY, account.discovery_tag)


def test_karpenter_gets_the_gates_that_its_chart_would_set(settings: Settings) -> None:
    assert feature_gates(settings, STACK) == "CapacityBuffer=false,ReservedCapacity=true"
