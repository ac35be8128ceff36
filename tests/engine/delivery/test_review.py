"""A change reviewed end to end: the base's stack brought up by the real engine, the head's previewed against it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, cast

import jsonschema
from ruamel.yaml import YAML

from lab.review.markdown import MARKER, body
from lab.review.stack import review

PROJECT = Path(__file__).resolve().parents[3]
OF_THE_PROGRAM = ("specs", "components", "policies", "__main__.py", "Pulumi.yaml", "Pulumi.local.yaml")

GONE = """
import pulumi_kubernetes
pulumi_kubernetes.core.v1.ConfigMap(
    "only-before", metadata={"name": "before"}, opts=pulumi.ResourceOptions(provider=provider)
)
"""


def base_of(folder: Path) -> Path:
    """The project as it was before: without mistral-7b, with fewer replicas, a lower cap and one more object."""
    for name in OF_THE_PROGRAM:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    yaml = YAML(typ="safe", pure=True)
    path = folder / "Pulumi.local.yaml"
    document = cast(dict[str, Any], yaml.load(path.read_text()))
    llama = document["config"]["headroom:models"][0]
    llama["replicas"]["max"] = 5
    document["config"]["headroom:models"] = [llama]
    with path.open("w") as file:
        yaml.dump(document, file)
    numbers = json.loads((folder / "policies" / "local.json").read_text())
    numbers["gpu-limit"]["maxGpus"] -= 1
    (folder / "policies" / "local.json").write_text(json.dumps(numbers))
    with (folder / "__main__.py").open("a") as main:  # the base's own code runs on the base's side
        main.write(GONE)
    return folder


def test_a_change_is_told_with_resources_policies_seconds_dollars_and_gpus(tmp_path: Path, cli: Path) -> None:
    (tmp_path / "base").mkdir()
    made = review(PROJECT, base_of(tmp_path / "base"), "local", cli)
    assert (made.status, made.notes) == ("passed", ())
    changes = {(step.op, step.type.rpartition(":")[2], step.name) for step in made.changes}
    assert ("update", "ScaledObject", "llama3-8b-engine") in changes
    assert ("create", "Deployment", "mistral-7b-engine") in changes
    assert ("delete", "ConfigMap", "only-before") in changes
    assert not any(name == "llama3-8b-engine" and kind == "Deployment" for _, kind, name in changes)
    assert [verdict.policy for verdict in made.verdicts if not verdict.passed] == []
    assert [item for item, _, _ in made.numbers_changed] == ["gpu-limit.maxGpus"]
    told = body([made], "before")
    document = {"base": "before", "stacks": [made.as_json()], "body": told}
    schema = json.loads((PROJECT / "docs/json/review.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(json.dumps(document)), schema)
    assert made.difference is not None
    figures = {change.item: change.delta or 0 for change in made.difference.changes}
    assert figures["caps.replicasGpus"] > 0
    assert figures["cost.ceilingUsd"] > 0
    assert {"models[mistral-7b]", "models[llama3-8b].replicas.max"} <= set(figures)
    assert told.startswith(MARKER)
    assert "| updated | `kubernetes:keda.sh/v1alpha1:ScaledObject` | `llama3-8b-engine` |" in told
