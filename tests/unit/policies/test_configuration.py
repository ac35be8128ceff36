"""The pack's configuration is closed: nothing misspelt switches a rule off."""

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel, Severity

from policies.configuration import refusals
from tests.unit.policies.programs import RULES, judged, pool

FOLDER = Path(__file__).parents[3] / "policies"
SCHEMAS = {name: rule.schema for name, rule in RULES.items()}
CONTRACT = {
    "gpu-limit": {"maxGpus"},
    "gpu-demand": {"maxGpus"},
    "gpu-request": set[str](),
    "pdb-present": set[str](),
    "pdb-drainable": set[str](),
    "graceful-drain": {"spotNoticeSeconds"},
    "gpu-pool-disruption": {"underutilizedPools"},
    "scaling-works": set[str](),
    "pinned-images": {"requireDigest"},
    "private-by-default": {"allowPublicEndpointCidrs"},
    "retain-data": {"require"},
}


def test_the_pack_has_the_eleven_policies_and_their_properties() -> None:
    assert {name: set(schema) for name, schema in SCHEMAS.items()} == CONTRACT


@pytest.mark.parametrize("name", CONTRACT)
def test_each_policy_is_mandatory_with_a_severity_and_a_description(name: str) -> None:
    rule = RULES[name]
    assert rule.enforcement_level is EnforcementLevel.MANDATORY
    assert rule.severity in tuple(Severity)
    assert rule.description.endswith(".")


@pytest.mark.parametrize("name", CONTRACT)
def test_the_engine_is_given_the_same_schema_and_safe_defaults(name: str) -> None:
    schema = RULES[name].config_schema
    assert schema is not None
    assert {key: shape["default"] for key, shape in schema.properties.items()} == {
        key: known.default for key, known in SCHEMAS[name].items()
    }


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_each_stacks_file_is_accepted_and_names_every_number(stack: str) -> None:
    given: dict[str, dict[str, Any]] = json.loads((FOLDER / f"{stack}.json").read_text())
    levels = {name: values.pop("enforcementLevel", None) for name, values in given.items()}
    assert refusals(SCHEMAS, given, []) == []
    assert set(levels) == set(CONTRACT)
    assert set(levels.values()) == {"mandatory"}
    assert {name: set(values) for name, values in given.items()} == CONTRACT


def refused(given: dict[str, dict[str, object]], *lowered: str) -> list[str]:
    return refusals(SCHEMAS, given, lowered)


def test_a_misspelt_policy_is_refused_with_the_nearest_name() -> None:
    (line,) = refused({"gpu-limt": {}})
    assert 'did you mean "gpu-limit"?' in line


def test_a_misspelt_property_and_level_are_refused_together() -> None:
    lines = refused({"gpu-limit": {"maxGPUs": 8, "enforcmentLevel": "advisory"}})
    assert len(lines) == 2
    assert 'did you mean "maxGpus"?' in lines[1] or 'did you mean "maxGpus"?' in lines[0]


@pytest.mark.parametrize(
    ("policy", "values"),
    [
        ("gpu-limit", {"maxGpus": "8"}),
        ("gpu-limit", {"maxGpus": True}),
        ("gpu-limit", {"maxGpus": -1}),
        ("gpu-limit", {"maxGpus": 1.5}),
        ("gpu-limit", {"maxGpus": None}),
        ("pinned-images", {"requireDigest": "yes"}),
        ("retain-data", {"require": 1}),
        ("private-by-default", {"allowPublicEndpointCidrs": "10.0.0.0/8"}),
        ("private-by-default", {"allowPublicEndpointCidrs": [8]}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(policy: str, values: dict[str, object]) -> None:
    (line,) = refused({policy: values})
    assert "allowed:" in line


def test_one_word_may_not_lower_every_policy() -> None:
    assert "all" in refused({"all": {}}, "all")[0]
    assert refused({"all": {}}) == []


def test_naming_one_policy_to_lower_it_is_allowed() -> None:
    assert refused({"gpu-limit": {"maxGpus": 8}}, "gpu-limit") == []


def test_a_rule_called_with_a_wrong_configuration_reports_it_and_judges_by_the_safe_default() -> None:
    found = [message for _, message in judged("gpu-limit", {"pool": pool()}, {"maxGpus": "many", "typo": 1})]
    assert any("maxGpus is" in message for message in found)
    assert any('unknown property "typo"' in message for message in found)
    assert any("at most 0 (maxGpus)" in message for message in found)


def test_the_packs_pins_are_the_programs() -> None:
    def pins(path: Path) -> set[str]:
        return {line for line in path.read_text(encoding="utf-8").splitlines() if "==" in line}

    assert pins(FOLDER / "requirements.txt") < pins(FOLDER.parent / "requirements.txt")
