"""The stack as a rule sees it: all its resources, and what they mean to Kubernetes, worked out once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from policies.autoscalers import Autoscaler, Buffer
from policies.budgets import Budget
from policies.declared import KubeObject, Resource
from policies.objects import kube_objects
from policies.plain import UNKNOWN, Plain, Unknown
from policies.pools import Pool
from policies.workloads import Workload, workload


@dataclass(frozen=True, eq=False)
class Scene:
    """Resources to judge. `whole` is false for one resource alone, before the engine creates it: then a rule
    reports only what no other resource could make right."""

    resources: tuple[Resource, ...]
    whole: bool

    @cached_property
    def objects(self) -> list[KubeObject]:
        """Every Kubernetes object."""
        return kube_objects(self.resources)

    def kind(self, group: str, *kinds: str) -> list[KubeObject]:
        """Objects of a group (any version) and one of these kinds."""
        return [obj for obj in self.objects if obj.group == group and obj.kind in kinds]

    @cached_property
    def workloads(self) -> list[Workload]:
        """Everything that runs pods."""
        return [found for obj in self.objects if (found := workload(obj)) is not None]

    @cached_property
    def gpu_workloads(self) -> list[Workload]:
        """Workloads whose replicas ask for GPUs, or may (their templates can't be read)."""
        return [found for found in self.workloads if found.gpus != 0]

    @cached_property
    def pools(self) -> list[Pool]:
        """Karpenter NodePools."""
        return [Pool(obj) for obj in self.kind("karpenter.sh", "NodePool")]

    @cached_property
    def autoscalers(self) -> list[Autoscaler]:
        """ScaledObjects and HorizontalPodAutoscalers."""
        scaled = self.kind("keda.sh", "ScaledObject") + self.kind("autoscaling", "HorizontalPodAutoscaler")
        return [Autoscaler(obj) for obj in scaled]

    @cached_property
    def budgets(self) -> list[Budget]:
        """PodDisruptionBudgets."""
        return [Budget(obj) for obj in self.kind("policy", "PodDisruptionBudget")]

    @cached_property
    def buffers(self) -> list[Buffer]:
        """CapacityBuffers."""
        return [Buffer(obj) for obj in self.kind("autoscaling.x-k8s.io", "CapacityBuffer")]

    @cached_property
    def _by_target(self) -> dict[Plain, list[Autoscaler]]:
        """Autoscalers by the name of their target; an unknown name under `UNKNOWN`."""
        found: dict[Plain, list[Autoscaler]] = {}
        for scaler in self.autoscalers:
            found.setdefault(scaler.target_name, []).append(scaler)
        return found

    @cached_property
    def _scalers(self) -> dict[Workload, list[tuple[Autoscaler, bool]]]:
        return {}

    def scalers_of(self, target: Workload) -> list[tuple[Autoscaler, bool]]:
        """Autoscalers that act on a workload, or may (second value false)."""
        if target not in self._scalers:
            named = isinstance(target.obj.name, str)
            near = [*self._by_target.get(target.obj.name, ()), *self._by_target.get(UNKNOWN, ())]
            answers = [(scaler, scaler.acts_on(target)) for scaler in (near if named else self.autoscalers)]
            self._scalers[target] = [
                (scaler, answer is True) for scaler, answer in answers if answer is not False
            ]
        return self._scalers[target]

    def least(self, target: Workload) -> int | Unknown:
        """Replicas a workload has at least: its autoscaler's floor, else its own count."""
        sure = [scaler for scaler, certain in self.scalers_of(target) if certain]
        floors = [scaler.floor for scaler in sure] or [target.replicas]
        known = [floor for floor in floors if not isinstance(floor, Unknown)]
        return Unknown.UNKNOWN if len(known) < len(floors) else max(known)

    def most(self, target: Workload) -> int | Unknown:
        """Replicas a workload may reach before surge: the largest of its own count and its maxima."""
        scalers = [scaler for scaler, _ in self.scalers_of(target)]
        stated = target.obj.get("spec", "replicas") is not None or not scalers
        counts = [scaler.ceiling for scaler in scalers] + ([target.replicas] if stated else [])
        known = [number for number in counts if not isinstance(number, Unknown)]
        return Unknown.UNKNOWN if len(known) < len(counts) else max(known)


def scene(resources: Iterable[Resource], *, whole: bool) -> Scene:
    """A scene of these resources."""
    return Scene(tuple(resources), whole)
