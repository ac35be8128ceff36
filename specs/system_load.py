"""Whether the system nodes can hold what is pinned to them: controllers, add-ons and one set of routers a model.

Nothing enlarges the managed node group by itself, and a release whose pods stay pending is rolled back after its
timeout: a group too small fails the first `up` after twenty minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from specs import charts
from specs.names import Names
from specs.platform_values import keda_values, prometheus_values
from specs.quantity import MEBI, QuantityError, parse_bytes, parse_cpu
from specs.router import deployment
from specs.settings.stack import Settings


@dataclass(frozen=True)
class Room:
    """CPU in millicores and memory in MiB: asked for, or there to be had."""

    cpu_milli: int = 0
    memory_mib: int = 0

    def __add__(self, other: Room) -> Room:
        return Room(self.cpu_milli + other.cpu_milli, self.memory_mib + other.memory_mib)

    def __mul__(self, times: int) -> Room:
        return Room(self.cpu_milli * times, self.memory_mib * times)

    def holds(self, other: Room) -> bool:
        """`other` fits in here."""
        return other.cpu_milli <= self.cpu_milli and other.memory_mib <= self.memory_mib


# Requests in the EKS add-ons' own manifests: two CoreDNS of 100m/70Mi and two EBS controllers of six
# containers; per node aws-node with its policy agent, kube-proxy, the EBS node plugin, the monitoring agent.
ADDONS = Room(200, 140) + Room(120, 480)
ADDONS_PER_NODE = Room(50, 0) + Room(100, 0) + Room(30, 120) + Room(10, 30)

# A vCPU in GiB of memory by the letter of the family (m7i, c7i, r7i); burstable types are half as large at
# `medium` and below.
GIB_PER_VCPU = {"c": 2, "m": 4, "r": 8, "t": 4}
_TYPE = re.compile(r"(?P<letter>[cmrt])\d\w*(?:-\w+)?\.(?P<times>\d*)(?P<size>large|xlarge)")
# kubelet's reserve on EKS: 6 % of the first core, 1 % of the second, half a percent of the next two, a quarter
# of the rest; 255 MiB and 11 MiB a pod, 100 MiB before eviction (amazon-eks-ami). EC2 keeps 7.5 % of the memory
# (Karpenter's vmMemoryOverheadPercent).
PODS = 110
MEMORY_RESERVE_MIB = 255 + 11 * PODS + 100
VM_MEMORY_SHARE = 0.925


def of_type(instance_type: str) -> Room | None:
    """What pods may ask of one node; None for a type whose name does not tell its size."""
    match = _TYPE.fullmatch(instance_type)
    if match is None:
        return None
    vcpus = 2 if match["size"] == "large" else 4 * int(match["times"] or 1)
    reserve = 60 + 10 + 5 * min(2, vcpus - 2) + 2.5 * max(0, vcpus - 4)
    memory = vcpus * GIB_PER_VCPU[match["letter"]] * 1024
    return Room(int(vcpus * 1000 - reserve), int(memory * VM_MEMORY_SHARE) - MEMORY_RESERVE_MIB)


def available(settings: Settings) -> Room | None:
    """What the smallest of the group's types leaves at its least number of nodes; None when it can't be told."""
    types = [of_type(name) for name in settings.cluster.system_nodes.instance_types]
    known = [room for room in types if room is not None]
    if not known or len(known) < len(types):
        return None
    smallest = Room(min(room.cpu_milli for room in known), min(room.memory_mib for room in known))
    return smallest * settings.cluster.system_nodes.min


def needed(settings: Settings) -> Room:
    """Requests of all that runs on the system nodes, the stack's own chart values included."""
    nodes = settings.cluster.system_nodes.min
    return _sum(_controllers(settings)) + _sum(_routers(settings)) + ADDONS + ADDONS_PER_NODE * nodes


def _sum(parts: Iterable[Room]) -> Room:
    return sum(parts, Room())


def _requests(values: Mapping[str, Any], *path: str) -> Room:
    return Room(
        _quantity(parse_cpu, _at(values, *path, "requests", "cpu")),
        _quantity(parse_bytes, _at(values, *path, "requests", "memory")) // MEBI,
    )


def _quantity(parse: Callable[[object], int], given: object) -> int:
    try:
        return 0 if given is None else parse(given)
    except QuantityError:  # Kubernetes names it when the release is installed
        return 0


def _count(values: Mapping[str, Any], *path: str) -> int:
    found = _at(values, *path)
    return found if isinstance(found, int) else 1


def _at(values: Mapping[str, Any], *path: str) -> object:
    """The user's own values may hold anything at any place."""
    found: Any = values
    for step in path:
        found = cast(Mapping[str, Any], found).get(step) if isinstance(found, Mapping) else None
    return found


def _controllers(settings: Settings) -> Iterator[Room]:
    platform, names = settings.platform, Names("any")
    if platform.karpenter.install:
        values = charts.karpenter(settings, names).values
        yield _requests(values, "controller", "resources") * _count(values, "replicas")
    if platform.load_balancer_controller.install:
        values = charts.load_balancer_controller(settings, names, "").values
        yield _requests(values, "resources") * _count(values, "replicaCount")
    if platform.keda.install:
        values = charts.merged(keda_values(settings), platform.keda.values)
        yield _requests(values, "resources", "operator") * _count(values, "operator", "replicaCount")
        yield _requests(values, "resources", "metricServer") * _count(values, "metricsServer", "replicaCount")
        yield _requests(values, "resources", "webhooks")
    if platform.prometheus.install:
        values = charts.merged(prometheus_values(settings), platform.prometheus.values)
        for path in _METRICS:
            yield _requests(values, *path, "resources")
        per_node = _requests(values, "prometheus-node-exporter", "resources")
        yield per_node * settings.cluster.system_nodes.min


_METRICS = (
    ("prometheus", "prometheusSpec"),
    ("prometheusOperator",),
    ("alertmanager", "alertmanagerSpec"),
    ("grafana",),
    ("kube-state-metrics",),
)


def _routers(settings: Settings) -> Iterator[Room]:
    for model in settings.active_models:
        body = deployment(settings, model)
        containers = cast(list[Mapping[str, Any]], _at(body, "spec", "template", "spec", "containers"))
        for container in containers:
            yield _requests(container, "resources") * settings.platform.router.replicas
