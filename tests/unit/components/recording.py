"""Runs components under a recording engine: what they register, in which order it must exist, and with which
options."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pulumi
import pulumi_kubernetes as k8s
from google.protobuf import json_format
from pulumi.runtime import rpc
from pulumi.runtime.mocks import MockMonitor, Mocks, set_mocks
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_pulumi_func


@dataclass(frozen=True)
class Registered:
    """One registration: inputs as the provider takes them, `after` the URNs it depends on."""

    urn: str
    type: str
    name: str
    inputs: Mapping[str, Any]
    parent: str
    after: frozenset[str]
    ignored: tuple[str, ...]
    timeouts: Mapping[str, str]
    protected: bool
    retained: bool


class Recording:
    """Everything a program registered, in the order of registration."""

    def __init__(self, entries: Iterable[Registered]) -> None:
        self.entries = tuple(entries)

    def all(self, kind: str) -> list[Registered]:
        """Registrations whose type ends in `:<kind>`."""
        return [entry for entry in self.entries if entry.type.rpartition(":")[2] == kind]

    def one(self, kind: str, name: str = "") -> Registered:
        """The only registration of the kind (and name)."""
        (found,) = [entry for entry in self.all(kind) if not name or entry.name == name]
        return found

    def waits_for(self, entry: Registered) -> set[str]:
        """Type and name of all that must exist before `entry`, near and far."""
        by_urn = {each.urn: each for each in self.entries}
        seen: set[str] = set()
        queue = list(entry.after)
        while queue:
            urn = queue.pop()
            if urn in seen or urn not in by_urn:
                continue
            seen.add(urn)
            queue += by_urn[urn].after
        return {f"{by_urn[urn].type.rpartition(':')[2]} {by_urn[urn].name}" for urn in seen}


def record(program: Callable[[], None]) -> Recording:
    """Run `program` as a first preview would: inputs are known, what a provider answers is not."""
    return contextvars.copy_context().run(_record, program)


def _record(program: Callable[[], None]) -> Recording:
    monitor = _Monitor()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        set_mocks(cast(Mocks, monitor), project="headroom", stack="unit", preview=True, monitor=monitor)
        loop.run_until_complete(run_pulumi_func(program))
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
        asyncio.set_event_loop(None)
    return Recording(monitor.entries)


class _Monitor(MockMonitor):
    def __init__(self) -> None:
        super().__init__(cast(Mocks, self))
        self.entries: list[Registered] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type != "pulumi:pulumi:Stack":
            plain = cast(Mapping[str, Any], _plain(json_format.MessageToDict(request.object)))
            timeouts = json_format.MessageToDict(request.customTimeouts)
            self.entries.append(
                Registered(
                    urn,
                    request.type,
                    request.name,
                    plain,
                    request.parent,
                    frozenset(request.dependencies),
                    tuple(request.ignoreChanges),
                    {key: value for key, value in timeouts.items() if value},
                    request.protect,
                    request.retainOnDelete,
                )
            )
        return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)


def _plain(value: object) -> object:
    if value == rpc.UNKNOWN:
        return None
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in cast(list[object], value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def provider() -> k8s.Provider:
    """A Kubernetes provider that reaches no cluster."""
    return k8s.Provider("cluster", kubeconfig="{}", cluster_identifier="unit")


def namespaces(*names: str, using: k8s.Provider) -> dict[str, k8s.core.v1.Namespace]:
    """Namespaces by name."""
    return {
        name: k8s.core.v1.Namespace(
            name, metadata={"name": name}, opts=pulumi.ResourceOptions(provider=using)
        )
        for name in names
    }


def release(name: str, using: k8s.Provider) -> k8s.helm.v3.Release:
    """A release that stands for another component's."""
    return k8s.helm.v3.Release(name, chart=name, opts=pulumi.ResourceOptions(provider=using))


def texts(value: object) -> Iterator[str]:
    """Every text anywhere in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in cast(Mapping[str, object], value).values():
            yield from texts(inner)
    elif isinstance(value, list | tuple):
        for inner in cast(list[object], value):
            yield from texts(inner)
