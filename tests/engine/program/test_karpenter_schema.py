"""Pools against the schemas that Karpenter publishes: an API server drops an unknown field without a word unless it is
asked to be strict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from lab.tools import ensure
from specs import nodes
from specs.names import Names
from specs.settings import Settings
from tests.unit.specs.stack import POOLS, settings

NAMES = Names("prod")
VARIANTS: dict[str, dict[str, Any]] = {
    "bottlerocket": {},
    "al2023": {"ami": "al2023@v20261101"},
    "reserved": {"capacityTypes": ["reserved", "on-demand"]},
    "local disks": {"disk": {"instanceStore": True}},
    "no expiry": {"expireAfterHours": None, "terminationGraceSeconds": None},
    "balanced": {"consolidation": {"policy": "Balanced", "afterSeconds": 900}},
    "two taints": {
        "taints": [{"key": "nvidia.com/gpu"}, {"key": "team", "value": "", "effect": "NoExecute"}]
    },
    "one zone": {"zones": ["us-east-1a"]},
}


@cache
def validator(file: str) -> Draft202012Validator:
    path = ensure(["karpenter-files"])["karpenter-files"] / file
    crd = YAML(typ="safe", pure=True).load(path)
    [version] = [each for each in crd["spec"]["versions"] if each["name"] == "v1"]
    return Draft202012Validator(closed(version["schema"]["openAPIV3Schema"]["properties"]["spec"]))


def closed(schema: Any) -> Any:
    """The schema, refusing what it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in cast(list[Any], schema)]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: closed(each) for key, each in cast(Mapping[str, Any], schema).items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), Mapping):
        made.setdefault("additionalProperties", False)
    return made


def faults(file: str, spec: Any) -> list[str]:
    return [
        f"{'.'.join(map(str, fault.path))}: {fault.message}" for fault in validator(file).iter_errors(spec)
    ]


def stack(**pool: Any) -> Settings:
    return settings({}, gpuPools=[{**POOLS[0], **pool}, POOLS[1]])


@pytest.mark.parametrize("name", VARIANTS)
def test_every_field_of_a_node_class_is_karpenters(name: str) -> None:
    body = nodes.node_class(NAMES, stack(**VARIANTS[name]).gpu_pools[0])
    assert faults("karpenter.k8s.aws_ec2nodeclasses.yaml", body["spec"]) == []


@pytest.mark.parametrize("name", VARIANTS)
def test_every_field_of_a_pool_is_karpenters(name: str) -> None:
    found = stack(**VARIANTS[name])
    assert faults("karpenter.sh_nodepools.yaml", nodes.node_pool(found, found.gpu_pools[0])["spec"]) == []


def test_a_field_in_its_old_place_is_refused() -> None:
    """The expiry stood under `disruption` in v1beta1."""
    found = stack()
    spec = cast(Any, nodes.node_pool(found, found.gpu_pools[0])["spec"])
    [fault] = faults(
        "karpenter.sh_nodepools.yaml", spec | {"disruption": spec["disruption"] | {"expireAfter": "168h"}}
    )
    assert "expireAfter" in fault
