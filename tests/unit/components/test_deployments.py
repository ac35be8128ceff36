"""Pulumi Cloud: settings, schedules, the pack and the groups that guard each environment."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.deployments import Deployments, DeploymentsArgs
from components.policy_source import staged
from specs.deployments import duration
from specs.policy_pack import sources, version_tag
from specs.settings import deployments as wanted
from tests.unit.components.recording import Recording, record

PROJECT = Path(__file__).resolve().parents[3]
SECTION: dict[str, Any] = {
    "organization": "acme",
    "repository": "acme/serving",
    "directory": "infra",
    "stacks": [
        {
            "name": "prod",
            "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy-prod", "durationSeconds": 5400},
            "drift": {"cron": "0 4 * * *", "autoRemediate": True},
        },
        {
            "name": "dev",
            "branch": "develop",
            "paths": ["infra/**"],
            "previewPullRequests": False,
            "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy-dev"},
            "night": {"destroy": "0 19 * * 1-5", "up": "0 6 * * 1-5"},
            "policies": False,
        },
        {
            "name": "local",
            "aws": {"roleArn": "arn:aws:iam::111122223333:role/deploy-local"},
            "ttl": {"at": "2027-01-31T18:00:00Z", "deleteStack": True},
        },
    ],
}


@cache
def recorded() -> Recording:
    section = wanted.Deployments.model_validate_json(json.dumps(SECTION))
    return record(lambda: _declare(section))


def _declare(section: wanted.Deployments) -> None:
    Deployments("deployments", DeploymentsArgs(deployments=section))


def test_a_push_to_the_stacks_branch_deploys_it_when_its_own_paths_change() -> None:
    inputs = recorded().one("DeploymentSettings", "prod").inputs
    assert inputs["sourceContext"]["git"] == {"branch": "refs/heads/main", "repoDir": "infra"}
    vcs = inputs["vcs"]
    assert (vcs["provider"], vcs["repository"], vcs["deployCommits"]) == ("github", "acme/serving", True)
    assert vcs["previewPullRequests"] is True
    assert "infra/Pulumi.prod.yaml" in vcs["paths"]
    assert "infra/Pulumi.dev.yaml" not in vcs["paths"]


def test_branch_and_paths_are_each_stacks_own() -> None:
    inputs = recorded().one("DeploymentSettings", "dev").inputs
    assert inputs["sourceContext"]["git"]["branch"] == "refs/heads/develop"
    assert inputs["vcs"]["paths"] == ["infra/**"]
    assert inputs["vcs"]["previewPullRequests"] is False


def test_aws_is_reached_by_a_role_and_nothing_holds_a_secret() -> None:
    entry = recorded().one("DeploymentSettings", "prod")
    assert entry.inputs["operationContext"]["oidc"]["aws"] == {
        "roleARN": "arn:aws:iam::111122223333:role/deploy-prod",
        "sessionName": "headroom-deployments",
        "duration": "1h30m0s",
        "policyARNs": [],
    }
    assert "environmentVariables" not in entry.inputs["operationContext"]
    assert not any("oken" in text for text in json.dumps([e.inputs for e in recorded().entries]).split('"'))


def test_every_guarded_environment_has_a_blocking_group_with_its_own_numbers() -> None:
    groups = {entry.name: entry.inputs for entry in recorded().all("PolicyGroup")}
    assert set(groups) == {"prod", "local"}
    for stack, inputs in groups.items():
        assert inputs["mode"] == "preventative"
        assert inputs["stacks"] == [{"name": stack, "routingProject": "headroom"}]
        [pack] = inputs["policyPacks"]
        assert (pack["name"], pack["versionTag"]) == ("headroom", version_tag())
        assert pack["config"] == json.loads((PROJECT / "policies" / f"{stack}.json").read_text())


def test_a_stack_is_not_deployed_before_its_group_guards_it() -> None:
    assert "PolicyGroup prod" in recorded().waits_for(recorded().one("DeploymentSettings", "prod"))
    assert "PolicyPack policies" in recorded().waits_for(recorded().one("PolicyGroup", "prod"))


def test_the_pack_is_published_once_with_what_each_policy_demands() -> None:
    pack = recorded().one("PolicyPack").inputs
    assert pack["sourcePath"] == f".headroom/policy-pack/{version_tag()}"
    levels = {policy["name"]: policy["enforcementLevel"] for policy in pack["policies"]}
    assert set(levels) == set(json.loads((PROJECT / "policies" / "prod.json").read_text()))
    assert set(levels.values()) == {"mandatory"}
    [limit] = [policy for policy in pack["policies"] if policy["name"] == "gpu-limit"]
    assert limit["configSchema"]["properties"]["maxGpus"]["type"] == "integer"


def test_schedules_say_when_and_what() -> None:
    drift = recorded().one("DriftSchedule").inputs
    assert (drift["stack"], drift["scheduleCron"], drift["autoRemediate"]) == ("prod", "0 4 * * *", True)
    runs = {entry.inputs["pulumiOperation"]: entry.inputs for entry in recorded().all("DeploymentSchedule")}
    assert (runs["destroy"]["stack"], runs["destroy"]["scheduleCron"]) == ("dev", "0 19 * * 1-5")
    assert (runs["update"]["stack"], runs["update"]["scheduleCron"]) == ("dev", "0 6 * * 1-5")
    ttl = recorded().one("TtlSchedule").inputs
    assert (ttl["timestamp"], ttl["deleteAfterDestroy"]) == ("2027-01-31T18:00:00Z", True)


@pytest.mark.parametrize(
    ("seconds", "text"), [(900, "15m0s"), (3600, "1h0m0s"), (5401, "1h30m1s"), (43200, "12h0m0s")]
)
def test_a_duration_is_written_as_the_provider_stores_it(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_the_staged_pack_is_the_same_wherever_and_however_often_it_is_staged(tmp_path: Path) -> None:
    folder = tmp_path / staged(tmp_path)
    assert staged(tmp_path) == folder.relative_to(tmp_path).as_posix()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in files.items()} == dict(sources())
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o644}
    assert [path.name for path in folder.parent.iterdir()] == [version_tag()]


def test_only_a_stack_with_the_section_loads_the_sdk_of_pulumi_cloud() -> None:
    main = ast.parse((PROJECT / "__main__.py").read_text())
    always = {node.module for node in main.body if isinstance(node, ast.ImportFrom)}
    assert "components.autoscaler" in always
    assert "components.deployments" not in always
    rooms = [PROJECT / room for room in ("specs", "components", "planner", "lab", "cli")]
    users = {
        path.relative_to(PROJECT).as_posix()
        for room in rooms
        for path in room.rglob("*.py")
        if "import pulumi_pulumiservice" in path.read_text(encoding="utf-8")
    }
    assert users == {"components/deployments.py"}
