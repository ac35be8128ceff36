"""The policy pack over the recorded cloud, without a language host."""

import json
from pathlib import Path

import pytest

from lab.cloud.outcome import Event, StepStarted, Violation
from lab.cloud.pack import PolicyPack, PolicyPackError
from tests.engine.cloud.conftest import Make
from tests.engine.cloud.projects import Project

_PACK = """
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, PolicyPack, ResourceValidationPolicy, Severity


def named(args, report):
    if args.resource_type == "aws:s3/bucket:Bucket" and args.name != args.get_config()["only"]:
        report(f"{args.name}: given this name; allowed {args.get_config()['only']}")


PolicyPack(
    "names",
    [
        ResourceValidationPolicy(
            "one-name",
            "Buckets have one name.",
            named,
            EnforcementLevel.MANDATORY,
            PolicyConfigSchema(properties={"only": {"type": "string"}}),
            severity=Severity.HIGH,
        )
    ],
)
"""

_PROGRAM = "import pulumi_aws as aws\n\naws.s3.Bucket('weights')\n"


def _pack(folder: Path, only: str) -> PolicyPack:
    folder.mkdir()
    (folder / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.1.0\n", encoding="utf-8")
    (folder / "__main__.py").write_text(_PACK, encoding="utf-8")
    (folder / "dev.json").write_text(json.dumps({"one-name": {"only": only}}), encoding="utf-8")
    return PolicyPack(path=folder, config=folder / "dev.json")


def test_a_broken_policy_is_a_violation_with_level_and_severity(make: Make, tmp_path: Path) -> None:
    project = make(_PROGRAM)
    heard: list[Event] = []
    outcome = project.cloud.preview("dev", pack=_pack(tmp_path / "pack", "other"), on_event=heard.append)
    assert outcome.status == "violated"
    (violation,) = outcome.violations
    assert (violation.policy, violation.level, violation.severity) == ("one-name", "mandatory", "high")
    assert outcome.problems == ("one-name: weights: given this name; allowed other",)
    assert violation in heard
    assert any(isinstance(event, StepStarted) for event in heard)
    assert not any(isinstance(event, Violation) and event != violation for event in heard)


def test_a_kept_policy_lets_the_stack_up(make: Make, tmp_path: Path) -> None:
    project = make(_PROGRAM)
    outcome = project.cloud.up("dev", pack=_pack(tmp_path / "pack", "weights"))
    assert outcome.ok, outcome.problems
    assert outcome.violations == ()


def test_a_mandatory_violation_stops_the_resource_in_up(make: Make, tmp_path: Path) -> None:
    outcome = make(_PROGRAM).cloud.up("dev", pack=_pack(tmp_path / "pack", "other"))
    assert outcome.status == "violated"
    assert outcome.calls == ()


@pytest.mark.parametrize("missing", ["__main__.py", "PulumiPolicy.yaml", "dev.json"])
def test_a_pack_that_lacks_a_file_is_named(serving: Project, tmp_path: Path, missing: str) -> None:
    pack = _pack(tmp_path / "pack", "weights")
    (tmp_path / "pack" / missing).unlink()
    with pytest.raises(PolicyPackError, match="policy pack"):
        serving.cloud.preview("dev", pack=pack)
