"""A sound stack to change in one place, and the parts of the bodies that tests look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from specs.checks import check
from specs.settings import Model, Settings, read

LLAMA: dict[str, Any] = {
    "name": "llama3-8b",
    "pool": "inference",
    "model": "meta-llama/Meta-Llama-3-8B-Instruct",
    "weightsGiB": 15,
    "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
    "replicas": {"min": 1, "max": 10},
    "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
}
LARGE: dict[str, Any] = {
    "pool": "large",
    "weightsGiB": 37,
    "parameters": {"layers": 80, "kvHeads": 8, "headDim": 128, "heads": 64},
    "gpusPerReplica": 4,
    "resources": {"cpu": "32", "memory": "128Gi"},
    "replicas": {"min": 1, "max": 2},
    "drain": {"preStopSeconds": 20, "shutdownSeconds": 250},
}
POOLS: tuple[dict[str, Any], ...] = (
    {"name": "inference", "families": ["g6", "g5"], "gpuLimit": 16},
    {
        "name": "large",
        "instanceTypes": ["g5.12xlarge", "g6.12xlarge"],
        "capacityTypes": ["on-demand"],
        "gpuLimit": 16,
    },
)
"""The first may launch spot nodes, the second has four GPUs a node."""


def settings(*models: Mapping[str, Any], **sections: object) -> Settings:
    """Settings that the checks accept: models by what differs from an 8B one, other sections as given."""
    named = models or ({},)
    config: dict[str, object] = {
        "aws:region": "us-east-1",
        "headroom:gpuPools": list(POOLS),
        "headroom:gpuBudget": {"maxGpus": 32},
        "headroom:models": [LLAMA | dict(model) for model in named],
    }
    config |= {f"headroom:{section}": value for section, value in sections.items()}
    found = read(config)
    problems = check(found).problems
    assert not problems, problems
    return found


def only(found: Settings) -> Model:
    """The stack's only model."""
    (model,) = found.models
    return model


def dig(body: object, *path: str | int) -> Any:
    """The value at a path of a body."""
    for step in path:
        body = cast(Any, body)[step]
    return body


def container(template: object) -> Any:
    """The only container of a pod template."""
    (found,) = dig(template, "spec", "containers")
    return found


def option(args: list[str], name: str) -> str:
    """The value of an option that stands once."""
    assert args.count(name) == 1, (name, args)
    return args[args.index(name) + 1]


def variables(template: object) -> dict[str, Any]:
    """The container's environment by name: a value, or the whole valueFrom."""
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container(template)["env"]}
