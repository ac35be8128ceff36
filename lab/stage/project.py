"""The project as a stage runs it: the same program, its stack file with the rehearsal's overrides."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML

from lab.stage.overrides import merged
from specs.settings.source import load, stack_path


def configuration(project: Path, stack: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The stack's configuration with the overrides; keys in full, such as `headroom:models`.

    Raises SettingsError for a stack file that can't be read.
    """
    return cast(dict[str, Any], merged(dict(load(stack_path(project, stack)).config), overrides))


def write(project: Path, stack: str, config: Mapping[str, Any], into: Path) -> None:
    """Pulumi.yaml as it is and the stack file with `config`, in a folder that the engine may read."""
    into.mkdir(parents=True, exist_ok=True)
    (into / "Pulumi.yaml").write_bytes((project / "Pulumi.yaml").read_bytes())
    with stack_path(into, stack).open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump({"config": dict(config)}, file)


def with_cap(project: Path, stack: str, gpus: int, into: Path) -> Path:
    """The stack's configuration of the policy pack with another cap of GPUs, written to `into`."""
    content = json.loads((project / "policies" / f"{stack}.json").read_text())
    for policy in ("gpu-limit", "gpu-demand"):
        content[policy]["maxGpus"] = gpus
    into.write_text(json.dumps(content))
    return into
