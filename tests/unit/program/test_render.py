"""What the program declares for the shipped stacks, rendered without an engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from tests.unit.program.rendered import PROJECT, declared, of


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_logical_names_are_the_golden_ones(stack: str) -> None:
    """Names are state: a change here replaces or orphans live resources unless it comes with an alias."""
    golden = (Path(__file__).parent / f"names.{stack}.txt").read_text().splitlines()
    assert [f"{entry.type} {entry.name}" for entry in declared(stack)] == golden


def test_an_existing_cluster_gets_nothing_of_aws() -> None:
    assert [entry.type for entry in declared("local") if entry.type.startswith(("aws:", "eks:"))] == []


def test_the_same_configuration_renders_the_same_bytes_with_another_hash_seed_and_folder(
    tmp_path: Path,
) -> None:
    outputs = [
        subprocess.run(
            [
                sys.executable,
                "-m",
                "cli",
                "render",
                "--stack-file",
                str(PROJECT / "Pulumi.prod.yaml"),
                "--json",
            ],
            cwd=folder,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT), "HOME": str(folder)},
            capture_output=True,
            check=True,
        ).stdout
        for folder, seed in ((PROJECT, "1"), (tmp_path, "2"))
    ]
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0])) == len(declared("prod"))


def test_no_output_is_turned_into_text_before_it_is_known() -> None:
    """PU11: an Output in an f-string renders as a warning text inside a document."""
    assert "__str__" not in json.dumps([entry.as_json() for entry in declared("prod")])


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_gpu_limits_and_budgets_are_known_at_preview(stack: str) -> None:
    """PO1: a policy can only block on what is known before anything exists."""
    pools = of(stack, "kubernetes:karpenter.sh/v1:NodePool")
    assert pools
    for pool in pools.values():
        assert pool["spec"]["limits"]["nvidia.com/gpu"] is not None
    for budget in of(stack, "kubernetes:policy/v1:PodDisruptionBudget").values():
        assert budget["spec"]["maxUnavailable"] is not None
        assert None not in budget["spec"]["selector"]["matchLabels"].values()


def nulls(value: object, path: str = "") -> list[str]:
    if value is None:
        return [path]
    if isinstance(value, Mapping):
        return [
            hit
            for key, item in cast(Mapping[str, object], value).items()
            for hit in nulls(item, f"{path}.{key}")
        ]
    if isinstance(value, list):
        items = cast(list[object], value)
        return [hit for index, item in enumerate(items) for hit in nulls(item, f"{path}[{index}]")]
    return []


def test_kubernetes_objects_are_complete_but_for_values_born_in_aws() -> None:
    unknown = {
        f"{entry.type.split(':')[-1]}{hit}"
        for entry in declared("prod")
        if entry.type.startswith("kubernetes:") and "helm.sh" not in entry.type
        for hit in nulls(entry.inputs)
    }
    allowed = ("securityGroupSelectorTerms", "subnetSelectorTerms", "args", "env", "volumeHandle")
    assert [hit for hit in sorted(unknown) if not any(word in hit for word in allowed)] == []
