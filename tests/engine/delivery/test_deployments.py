"""A stack that holds deployments, under the real engine over the recorded cloud."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.policy_source import STAGED
from lab.cloud.outcome import Outcome
from lab.cloud.pack import PolicyPack
from specs.policy_pack import version_tag
from tests.engine.program.conftest import PROJECT, Program

SECTION: dict[str, Any] = {
    "organization": "acme",
    "repository": "acme/serving",
    "stacks": [
        {
            "name": "local",
            "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy-local"},
            "drift": {},
        },
        {
            "name": "dev",
            "branch": "develop",
            "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy-dev"},
            "night": {"destroy": "0 19 * * 1-5", "up": "0 6 * * 1-5"},
        },
    ],
}


@pytest.fixture
def program(tmp_path: Path, cli: Path) -> Program:
    return Program(tmp_path / "local", "local", cli)


def declare(section: dict[str, Any] | None) -> Callable[[dict[str, Any]], object]:
    def change(config: dict[str, Any]) -> None:
        if section is not None:
            config["headroom:deployments"] = section

    return change


def cloud(outcome: Outcome) -> set[tuple[str, str, str]]:
    assert outcome.ok, outcome.problems
    return {
        (step.op, step.type.rpartition(":")[2], step.name)
        for step in outcome.steps
        if step.type.startswith("pulumiservice:") and step.op != "same"
    }


def test_deployments_come_and_change_and_go_without_an_account(program: Program) -> None:
    assert cloud(program.cloud.up("local")) == set()

    program.configure(declare(SECTION))
    made = program.cloud.up("local")
    assert cloud(made) == {
        ("create", "PolicyPack", "policies"),
        ("create", "PolicyGroup", "local"),
        ("create", "PolicyGroup", "dev"),
        ("create", "DeploymentSettings", "local"),
        ("create", "DeploymentSettings", "dev"),
        ("create", "DriftSchedule", "local-drift"),
        ("create", "DeploymentSchedule", "dev-night"),
        ("create", "DeploymentSchedule", "dev-morning"),
    }
    order = [call.name for call in made.calls if call.type.endswith(("PolicyGroup", "DeploymentSettings"))]
    assert order.index("dev") < len(order) - 1 - order[::-1].index("dev"), "the group guards before deploying"

    section = SECTION | {"repository": "acme/llm-serving"}
    program.configure(declare(section))
    # What is published is a pack that works: the staged copy judges this preview.
    published = PolicyPack(path=PROJECT / STAGED / version_tag(), config=PROJECT / "policies" / "local.json")
    assert cloud(program.cloud.preview("local", pack=published)) == {
        ("update", "DeploymentSettings", "local"),
        ("update", "DeploymentSettings", "dev"),
    }

    program.configure(declare(None))
    gone = program.cloud.up("local")
    assert {op for op, _, _ in cloud(gone)} == {"delete"}
    assert len(cloud(gone)) == 8
