"""What Pulumi Cloud is told of each policy, taken from the pack: `python -m tests.unit.policies.published` writes it."""

from __future__ import annotations

import json
from pathlib import Path

from policies.pack import POLICIES

DATA = Path(__file__).resolve().parents[3] / "specs" / "data" / "policies.json"


def text() -> str:
    """The data file as it should be."""
    return json.dumps([_policy(index) for index in range(len(POLICIES))], indent=2) + "\n"


def _policy(index: int) -> dict[str, object]:
    policy = POLICIES[index]
    if policy.enforcement_level is None or policy.severity is None or policy.config_schema is None:
        raise ValueError(f"{policy.name}: a policy of the pack states its level, severity and schema")
    return {
        "name": policy.name,
        "description": policy.description,
        "enforcementLevel": policy.enforcement_level.value,
        "severity": policy.severity.value,
        "configSchema": {"type": "object", "properties": policy.config_schema.properties},
    }


if __name__ == "__main__":
    DATA.write_text(text(), encoding="utf-8")
