"""PodDisruptionBudgets: which pods each one covers, and how many evictions it allows.

The arithmetic is that of Kubernetes `pkg/controller/disruption`: percentages round up on both fields, an
integer minAvailable counts the pods that exist, everything else needs the scale subresource, and a budget
with neither field allows nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from policies.declared import KubeObject
from policies.labels import matches
from policies.plain import UNKNOWN, Plain, Unknown
from policies.pods import labels
from policies.quantity import share
from policies.workloads import PodSet, Workload


@dataclass(frozen=True, eq=False)
class Budget:
    """A PodDisruptionBudget of group policy."""

    obj: KubeObject

    @cached_property
    def min_available(self) -> Plain:
        """spec.minAvailable: a count, a percentage, or nothing."""
        return self.obj.get("spec", "minAvailable")

    @cached_property
    def max_unavailable(self) -> Plain:
        """spec.maxUnavailable: a count, a percentage, or nothing."""
        return self.obj.get("spec", "maxUnavailable")

    def covers(self, workload: Workload, pods: PodSet) -> bool | None:
        """Whether its selector takes these pods, in the same namespace; `None` when that can't be known."""
        here = self.obj.beside(workload.obj)
        found = labels(pods.template)
        known = None if found is None else {**dict(workload.group_labels), **found}
        taken = matches(self.obj.get("spec", "selector"), known)
        if here is False or taken is False:
            return False
        return None if here is None or taken is None else True

    @cached_property
    def needs_scale(self) -> bool:
        """Whether its fields mean something only for controllers with the scale subresource."""
        return self.max_unavailable is not None or isinstance(self.min_available, str)

    def allowed(self, pods: int) -> int | Unknown | None:
        """Evictions allowed while `pods` are all healthy; `None` when a field is malformed."""
        stated = self.max_unavailable if self.max_unavailable is not None else self.min_available
        if stated is UNKNOWN:
            return UNKNOWN
        if stated is None:
            return 0
        number = share(stated, pods, round_up=True)
        if number is None:
            return None
        return min(number, pods) if self.max_unavailable is not None else max(0, pods - number)


def certain(budgets: Sequence[Budget], workload: Workload) -> list[Budget]:
    """Budgets that surely cover some pods of a workload."""
    return [budget for budget in budgets if any(budget.covers(workload, pods) for pods in workload.pods)]
