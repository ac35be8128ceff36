"""Autoscalers and warm capacity: which workload each one acts on and within which bounds."""

from dataclasses import dataclass
from functools import cached_property

from policies.declared import KubeObject
from policies.objects import same
from policies.plain import UNKNOWN, Plain, Unknown, dig
from policies.workloads import Count, Workload, count

PAUSED = "autoscaling.keda.sh/paused-replicas"


@dataclass(frozen=True, eq=False)
class Autoscaler:
    """A KEDA ScaledObject or a HorizontalPodAutoscaler of any version."""

    obj: KubeObject

    @cached_property
    def keda(self) -> bool:
        """True for a ScaledObject."""
        return self.obj.kind == "ScaledObject"

    @cached_property
    def floor(self) -> Count:
        """Least replicas it holds (KEDA's default 0, the HPA's 1)."""
        if self.keda:
            paused = self.obj.get("metadata", "annotations", PAUSED)
            if paused is not None:
                return count(paused, 0)
            idle = self.obj.get("spec", "idleReplicaCount")
            return count(self.obj.get("spec", "minReplicaCount") if idle is None else idle, 0)
        return count(self.obj.get("spec", "minReplicas"), 1)

    @cached_property
    def ceiling(self) -> Count:
        """Most replicas it may ask for (KEDA's default is 100); a paused count stands outside its bounds."""
        if not self.keda:
            stated = self.obj.get("spec", "maxReplicas")
            return UNKNOWN if stated is None else count(stated, 0)
        most = count(self.obj.get("spec", "maxReplicaCount"), 100)
        paused = count(self.obj.get("metadata", "annotations", PAUSED), 0)
        if isinstance(most, Unknown) or isinstance(paused, Unknown):
            return UNKNOWN
        return max(most, paused)

    @cached_property
    def target_name(self) -> Plain:
        """The name of what it scales; `UNKNOWN` when that is no plain string."""
        name = self.obj.get("spec", "scaleTargetRef", "name")
        return name if isinstance(name, str) else UNKNOWN

    def acts_on(self, workload: Workload) -> bool | None:
        """Whether the workload is its target; `None` when that can't be known."""
        target = self.obj.get("spec", "scaleTargetRef")
        kind, version = dig(target, "kind"), dig(target, "apiVersion")
        answers = [
            self.obj.beside(workload.obj),
            same(self.target_name, workload.obj.name),
            same(("Deployment" if self.keda else None) if kind is None else kind, workload.obj.kind),
            same(_group(version, kind), workload.obj.group),
        ]
        if False in answers:
            return False
        return None if None in answers else True


@dataclass(frozen=True, eq=False)
class Buffer:
    """A CapacityBuffer: nodes kept ready for pods that do not exist yet."""

    obj: KubeObject

    def refers_to(self, workload: Workload) -> bool | None:
        """Whether `scalableRef` names the workload; `None` when that can't be known."""
        target = self.obj.get("spec", "scalableRef")
        if target is None:
            return False
        answers = [
            self.obj.beside(workload.obj),
            same(dig(target, "name"), workload.obj.name),
            same(dig(target, "kind"), workload.obj.kind),
            same(dig(target, "apiGroup") or "", workload.obj.group) if dig(target, "apiGroup") else True,
        ]
        if False in answers:
            return False
        return None if None in answers else True


def _group(version: Plain, kind: Plain) -> Plain:
    if version is None:
        return "apps" if kind in (None, "Deployment", "StatefulSet", "ReplicaSet") else UNKNOWN
    if not isinstance(version, str):
        return UNKNOWN
    return version.split("/")[0] if "/" in version else ""
