"""What waits for what in the whole program: nothing too little, and no edge that grows with the number of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lab import render
from specs.settings.source import load, stack_path
from tests.unit.program.rendered import PROJECT

Edges = dict[str, set[str]]


def edges(config: Mapping[str, object], monkeypatch: pytest.MonkeyPatch) -> Edges:
    """By the end of each resource's URN, `type::name`, the same of what it waits for directly."""
    found: Edges = {}
    register = render._Recorder.RegisterResource  # pyright: ignore[reportPrivateUsage]

    def noted(self: Any, request: Any) -> Any:
        answer = register(self, request)
        provider = [request.provider.rpartition("::")[0]] if request.provider else []
        found[_short(answer.urn)] = {_short(urn) for urn in (*request.dependencies, *provider)}
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(render._Recorder, "RegisterResource", noted)  # pyright: ignore[reportPrivateUsage]
        render.render(PROJECT / "__main__.py", "test", config)
    return found


def _short(urn: str) -> str:
    kind, _, name = urn.partition("::")[2].partition("::")[2].rpartition("::")
    return f"{kind.rpartition(':')[2]} {name}"


def everything(found: Edges, entry: str) -> set[str]:
    """All that `entry` waits for, near and far."""

    def below(name: str, seen: set[str]) -> Iterator[str]:
        for other in found.get(name, set()) - seen:
            seen.add(other)
            yield other
            yield from below(other, seen)

    return set(below(entry, set()))


def models(count: int) -> dict[str, object]:
    config: dict[str, Any] = dict(load(stack_path(PROJECT, "dev")).config)
    one = config["headroom:models"][0] | {"replicas": {"min": 1, "max": 1}, "scaling": {}}
    config["headroom:models"] = [one | {"name": f"model-{index}"} for index in range(count)]
    return config


def test_a_model_waits_for_nothing_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = edges(models(2), monkeypatch), edges(models(4), monkeypatch)
    of_one = {entry: waits for entry, waits in few.items() if "model-0" in entry}
    assert of_one == {entry: waits for entry, waits in many.items() if "model-0" in entry}
    assert not [entry for entry in of_one if any("model-1" in other for other in everything(few, entry))]


def test_each_object_of_a_model_waits_for_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = edges(models(1), monkeypatch)
    nodes = {"NodeGroup system", "Addon eks-pod-identity-agent", "Addon coredns"}
    needs = {
        "PodIdentityAssociation model-0-weights": {*nodes, "RolePolicy model-0-weights"},
        "Deployment model-0-engine": {*nodes, "PodIdentityAssociation model-0-weights", "Release karpenter"},
        "ScaledObject model-0-engine": {
            *nodes,
            "Deployment model-0-engine",
            "Release keda",
            "Release prometheus",
        },
        "PodMonitor model-0-engine": {*nodes, "Release prometheus"},
        "PrometheusRule model-0-engine": {*nodes, "Release prometheus"},
    }
    missing = {entry: wanted - everything(found, entry) for entry, wanted in needs.items()}
    assert not any(missing.values()), missing
