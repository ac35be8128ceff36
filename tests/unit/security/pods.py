"""The pods that the shipped stacks declare, taken out of what makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from lab.render import Declared

Body = Mapping[str, Any]


def templates(found: Iterable[Declared]) -> Iterator[tuple[str, Body]]:
    """Name and pod template (with its `namespace`) of each workload."""
    for entry in found:
        spec = cast(Body, entry.inputs.get("spec") or {})
        if entry.type.startswith("kubernetes:apps/") and "template" in spec:
            metadata = cast(Body, entry.inputs["metadata"])
            yield str(metadata["name"]), {**spec["template"], "namespace": metadata["namespace"]}


def bodies(found: Iterable[Declared], kind: str) -> Iterator[Body]:
    """Kubernetes objects of a kind."""
    for entry in found:
        if entry.type.startswith("kubernetes:") and entry.type.endswith(f":{kind}"):
            yield cast(Body, entry.inputs)


def containers(template: Body) -> list[Body]:
    """All containers of a pod template, those that start first included."""
    spec = template["spec"]
    return [*spec["containers"], *spec.get("initContainers", [])]
