"""This project's own stacks pass their own packs, and a cap below the demand blocks the preview."""

import json
from pathlib import Path

import pytest

from lab.cloud.pack import PolicyPack
from lab.cloud.session import RecordedCloud

PROJECT = Path(__file__).parents[3]
POLICIES = PROJECT / "policies"


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_each_stack_passes_its_own_pack(stack: str, cli: Path, tmp_path: Path) -> None:
    with RecordedCloud(PROJECT, tmp_path, cli) as cloud:
        outcome = cloud.preview(stack, pack=PolicyPack(path=POLICIES, config=POLICIES / f"{stack}.json"))
    assert [f"{found.policy}: {found.message}" for found in outcome.violations] == []
    assert outcome.status == "succeeded"


def test_a_cap_below_the_demand_of_prod_blocks_its_preview(cli: Path, tmp_path: Path) -> None:
    config = json.loads((POLICIES / "prod.json").read_text(encoding="utf-8"))
    config["gpu-demand"]["maxGpus"] = 20
    lowered = tmp_path / "lowered.json"
    lowered.write_text(json.dumps(config), encoding="utf-8")
    with RecordedCloud(PROJECT, tmp_path / "state", cli) as cloud:
        outcome = cloud.preview("prod", pack=PolicyPack(path=POLICIES, config=lowered))
    assert outcome.status != "succeeded"
    found = [item.message for item in outcome.violations if item.policy == "gpu-demand"]
    assert any("demand may reach" in message and "at most 20 (maxGpus)" in message for message in found)
