"""All parts of a lab: what each needs before it, the ports it listens on, and the tools it is made of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.control.component import Component
from lab.control.errors import LabError
from lab.control.parts.apiserver import apiserver
from lab.control.parts.aws import aws
from lab.control.parts.context import Context
from lab.control.parts.controllers import controller_manager, scheduler
from lab.control.parts.etcd import etcd
from lab.control.parts.karpenter import karpenter, karpenter_core
from lab.control.parts.keda import adapter, operator
from lab.control.parts.keeper import keeper
from lab.control.parts.kwok import kwok
from lab.control.parts.prometheus import prometheus


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part. ``needs`` are started and well before it; ``ports`` are purposes, the component's own first."""

    name: str
    render: Callable[[Context], Component]
    needs: tuple[str, ...] = ()
    ports: tuple[str, ...]
    tools: tuple[str, ...] = ()


def _part(
    name: str,
    render: Callable[[Context], Component],
    *,
    needs: tuple[str, ...] = (),
    ports: tuple[str, ...] = (),
    tools: tuple[str, ...] = (),
) -> Part:
    return Part(name=name, render=render, needs=needs, ports=(name, *ports), tools=tools)


_API = ("apiserver",)
_CRDS = ("karpenter-files", "keda-crds", "monitor-crds", "karpenter-core-files")

# In the order of their starts.
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        part.name: part
        for part in (
            _part("etcd", etcd, ports=("etcd-peer",), tools=("etcd",)),
            _part("aws", aws, tools=("karpenter-files",)),
            _part("apiserver", apiserver, needs=("etcd",), tools=("kube-apiserver", *_CRDS)),
            _part("controller-manager", controller_manager, needs=_API, tools=("kube-controller-manager",)),
            _part("scheduler", scheduler, needs=_API, tools=("kube-scheduler",)),
            _part("kwok", kwok, needs=_API, tools=("kwok", "kwok-stages")),
            _part(
                "karpenter",
                karpenter,
                needs=("apiserver", "aws"),
                ports=("karpenter-metrics",),
                tools=("karpenter",),
            ),
            Part(
                name="karpenter-core",
                render=karpenter_core,
                needs=_API,
                ports=("karpenter", "karpenter-metrics"),
                tools=("karpenter-core",),
            ),
            _part(
                "keda-operator",
                operator,
                needs=_API,
                ports=("keda-metrics", "keda-grpc"),
                tools=("keda-operator",),
            ),
            _part(
                "keda-adapter",
                adapter,
                needs=("apiserver", "keda-operator"),
                ports=("keda-adapter-metrics",),
                tools=("keda-adapter",),
            ),
            _part("prometheus", prometheus, needs=_API, tools=("prometheus", "promtool")),
            _part("keeper", keeper, needs=_API),
        )
    }
)

API = frozenset({"etcd", "apiserver"})
"""Enough to validate objects."""
CLUSTER = API | {"controller-manager", "scheduler", "kwok", "keeper"}
"""A cluster whose nodes and pods are fake."""
LIGHT = CLUSTER | {"karpenter-core", "keda-operator", "keda-adapter", "prometheus"}
"""The whole loop with KWOKNodeClass in place of an AWS account."""
FULL = CLUSTER | {"aws", "karpenter", "keda-operator", "keda-adapter", "prometheus"}
"""The whole loop, with the real AWS provider of Karpenter over moto."""


def closure(names: Iterable[str]) -> list[str]:
    """The named parts and all they need, in the order of their starts. Raises LabError for an unknown name."""
    wanted = set(names)
    unknown = sorted(wanted - set(PARTS))
    if unknown:
        raise LabError(f"There is no component {', '.join(unknown)}. There are: {', '.join(PARTS)}.")
    if {"karpenter", "karpenter-core"} <= wanted:
        raise LabError("karpenter and karpenter-core act on the same objects: choose one of them.")
    while True:
        more = {need for name in wanted for need in PARTS[name].needs} - wanted
        if not more:
            return [name for name in PARTS if name in wanted]
        wanted |= more


def tools_of(names: Iterable[str]) -> list[str]:
    """The tools that the parts are made of, each once."""
    return list(dict.fromkeys(tool for name in names for tool in PARTS[name].tools))


def ports_of(names: Iterable[str]) -> list[str]:
    """The port purposes of the parts, each once."""
    return list(dict.fromkeys(port for name in names for port in PARTS[name].ports))
