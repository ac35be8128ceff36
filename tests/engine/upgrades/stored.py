"""A stack's state as an earlier version of the program left it: small, the same bytes each time, no secrets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final, cast
from uuid import NAMESPACE_URL, uuid5

FOLDER = Path(__file__).parent / "states"
LONG_AGO: Final = "2026-01-01T00:00:00Z"
_PASSING: Final = ("created", "modified", "sourcePosition", "stackTrace")
_MARK: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """`commit` of the program that made it, the stack's name, what was special (`label`, or nothing), its
    configuration then (the stack file's `config`), and the engine's deployment (`pulumi stack export`)."""

    commit: str
    stack: str
    label: str
    config: Mapping[str, Any]
    deployment: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its file's name, without the ending."""
        return "-".join(part for part in (self.stack, self.commit, self.label) if part)


def names() -> list[str]:
    """Of all stored states."""
    return sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def load(name: str) -> Stored:
    """A stored state. Raises FileNotFoundError."""
    return Stored(**json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes())))


def save(state: Stored) -> Path:
    """Write a state; the same state gives the same bytes."""
    text = json.dumps(
        {
            "commit": state.commit,
            "stack": state.stack,
            "label": state.label,
            "config": state.config,
            "deployment": clean(state.deployment),
        },
        sort_keys=True,
        separators=(",", ":"),
    )
    target = FOLDER / f"{state.name}.json.gz"
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return target


def clean(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Without what differs from run to run: times, places, the order in which resources happened to be done, the
    ids that the engine draws for providers, and the key that sealed the secrets."""
    resources = [
        {key: value for key, value in resource.items() if key not in _PASSING}
        for resource in cast(list[dict[str, Any]], deployment["resources"])
    ]
    text = json.dumps([_sorted_names(resource) for resource in _in_order(resources)])
    for resource in resources:
        if resource["type"].startswith("pulumi:providers:"):
            text = text.replace(resource["id"], str(uuid5(NAMESPACE_URL, resource["urn"])))
    manifest = {**deployment["manifest"], "time": LONG_AGO}
    return {"manifest": manifest, "resources": json.loads(text)}


def _sorted_names(resource: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(resource)
    if "dependencies" in found:
        found["dependencies"] = sorted(found["dependencies"])
    if "propertyDependencies" in found:
        found["propertyDependencies"] = {
            key: sorted(cast(list[str], urns or [])) for key, urns in found["propertyDependencies"].items()
        }
    return found


def _in_order(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each after what it needs, as the engine wants them; by name where that leaves a choice."""
    known = {resource["urn"]: resource for resource in resources}
    sorter = TopologicalSorter({urn: _needs(resource) for urn, resource in known.items()})
    sorter.prepare()
    ordered: list[dict[str, Any]] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += [known[urn] for urn in ready]
        sorter.done(*ready)
    return ordered


def _needs(resource: Mapping[str, Any]) -> set[str]:
    found = {*(resource.get("dependencies") or ()), resource.get("parent"), resource.get("deletedWith")}
    by_property = cast(Mapping[str, list[str] | None], resource.get("propertyDependencies") or {})
    for urns in by_property.values():
        found |= set(urns or ())
    if resource.get("provider"):
        found.add(resource["provider"].rpartition("::")[0])
    return {urn for urn in found if urn}


def secrets(value: object) -> list[object]:
    """What the engine marks as secret, anywhere in a value."""
    if isinstance(value, Mapping):
        inside = cast(Mapping[str, object], value)
        own: list[object] = [dict(inside)] if inside.get(_MARK) == _SECRET else []
        return own + [hit for item in inside.values() for hit in secrets(item)]
    if isinstance(value, list):
        return [hit for item in cast(list[object], value) for hit in secrets(item)]
    return []
