"""Refusals of the section `deployments`, each beside its near twin that is accepted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from specs.checks import Findings, examine

Entry = dict[str, Any]
BASE: dict[str, Any] = {
    "headroom:gpuPools": [{"name": "inference", "families": ["g6", "g5"], "gpuLimit": 16}],
    "headroom:gpuBudget": {"maxGpus": 16},
    "headroom:models": [],
    "headroom:deployments": {
        "organization": "acme",
        "repository": "acme/serving",
        "stacks": [{"name": "dev", "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy"}}],
    },
}


def examined(change: Callable[[Entry], object], stack: str = "prod") -> Findings:
    config = copy.deepcopy(BASE)
    change(config["headroom:deployments"]["stacks"][0])
    return examine(config, stack)[1]


def put(**keys: Any) -> Callable[[Entry], object]:
    return lambda entry: entry.update(keys)


PAIRS = {
    "branch": (put(branch="main --force"), put(branch="release/2027-01")),
    "branch of dots": (put(branch="main/../prod"), put(branch="main.2")),
    "paths": (put(paths=["specs; rm -rf /"]), put(paths=["specs/**", "!docs/**"])),
    "paths none": (put(paths=[]), put(paths=None)),
    "aws.roleArn": (
        put(aws={"roleArn": "arn:aws:iam::111122223333:user/me"}),
        put(aws={"roleArn": "arn:aws-us-gov:iam::111122223333:role/ci/deploy"}),
    ),
    "aws.durationSeconds": (
        put(aws={"roleArn": "arn:aws:iam::111122223333:role/d", "durationSeconds": 60}),
        put(aws={"roleArn": "arn:aws:iam::111122223333:role/d", "durationSeconds": 900}),
    ),
    "aws.accessKey": (
        put(aws={"roleArn": "arn:aws:iam::111122223333:role/d", "accessKey": "AKIA"}),
        put(aws={"roleArn": "arn:aws:iam::111122223333:role/d", "sessionName": "dev"}),
    ),
    "drift.cron": (put(drift={"cron": "every day"}), put(drift={"cron": "0 4 * * *"})),
    "drift.cron never": (put(drift={"cron": "0 4 30 2 *"}), put(drift={"cron": "0 4 29 2 *"})),
    "night.up": (
        put(night={"destroy": "0 19 * * *", "up": "0 19 * * *"}),
        put(night={"destroy": "0 19 * * *", "up": "0 6 * * *"}),
    ),
    "ttl.at": (put(ttl={"at": "2027-02-30T18:00:00Z"}), put(ttl={"at": "2027-02-28T18:00:00Z"})),
    "ttl.at zone": (put(ttl={"at": "2027-02-28T18:00:00+02:00"}), put(ttl={"at": "2027-02-28T16:00:00Z"})),
    "ttl": (
        put(ttl={"at": "2027-02-28T18:00:00Z"}, night={"destroy": "0 19 * * *"}),
        put(ttl={"at": "2027-02-28T18:00:00Z"}),
    ),
    "policies": (put(name="staging"), put(name="staging", policies=False)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_refused_where_it_stands(name: str) -> None:
    [problem] = examined(PAIRS[name][0]).problems
    assert problem.path.startswith(f"deployments.stacks[0].{name.partition(' ')[0]}")
    assert all((problem.given, problem.allowed, problem.fix))


@pytest.mark.parametrize("name", PAIRS)
def test_the_near_twin_is_accepted(name: str) -> None:
    assert examined(PAIRS[name][1]).problems == []


def test_a_section_without_stacks_is_refused() -> None:
    config = copy.deepcopy(BASE)
    config["headroom:deployments"]["stacks"] = []
    assert [problem.path for problem in examine(config, "prod")[1].problems] == ["deployments.stacks"]


def test_a_stack_named_twice_is_refused() -> None:
    config = copy.deepcopy(BASE)
    config["headroom:deployments"]["stacks"] *= 2
    assert [problem.path for problem in examine(config, "prod")[1].problems] == ["deployments.stacks[1].name"]


def test_a_stack_cannot_be_destroyed_nightly_by_the_schedule_it_holds_itself() -> None:
    nightly = put(night={"destroy": "0 19 * * *", "up": "0 6 * * *"})
    assert [problem.path for problem in examined(nightly, "dev").problems] == ["deployments.stacks[0].night"]
    assert examined(nightly, "prod").problems == []


def test_a_stack_that_keeps_its_data_cannot_end_itself() -> None:
    config = copy.deepcopy(BASE)
    config["headroom:deployments"]["stacks"][0]["ttl"] = {"at": "2027-01-31T18:00:00Z"}
    assert [problem.path for problem in examine(config, "dev")[1].problems] == ["deployments.stacks[0].ttl"]
    config["headroom:cluster"] = {"deletionProtection": False}
    config["headroom:weights"] = {"bucketRetain": False}
    assert examine(config, "dev")[1].problems == []


def test_a_stack_without_policies_and_a_drift_that_mends_itself_are_warned_about() -> None:
    warned = examined(put(policies=False, drift={"autoRemediate": True})).warnings
    assert {
        "deployments.stacks[0].policies",
        "deployments.stacks[0].drift.autoRemediate",
    } <= {warning.path for warning in warned}


def test_every_mistake_is_told_at_once() -> None:
    found = examined(put(branch="a b", name="staging", drift={"cron": "x x x x x"}))
    paths = {problem.path for problem in found.problems}
    assert paths == {
        "deployments.stacks[0].branch",
        "deployments.stacks[0].policies",
        "deployments.stacks[0].drift.cron",
    }
