"""Karpenter NodePools as GPU capacity: which can offer GPUs, how many at most, and which pods they take."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from policies.declared import KubeObject
from policies.instances import GPU_CATEGORIES, gpus_of, may_have_gpus
from policies.labels import tolerated
from policies.plain import UNKNOWN, Plain, Unknown, dig, items
from policies.pods import GPU
from policies.quantity import quantity, whole

CAPACITY_TYPE = "karpenter.sh/capacity-type"
NODE_POOL = "karpenter.sh/nodepool"
_NAMES = ("instance-type", "instance-family", "instance-category")


@dataclass(frozen=True)
class Requirement:
    """One entry of `spec.template.spec.requirements`, its key without the cloud's prefix."""

    key: str
    operator: Plain
    values: list[Plain]

    def allows(self, value: str) -> bool | None:
        """Whether a node with this label value may be launched; `None` when that can't be known."""
        match self.operator:
            case "In":
                return True if value in self.values else None if UNKNOWN in self.values else False
            case "NotIn":
                return False if value in self.values else None if UNKNOWN in self.values else True
            case "Exists":
                return True
            case "DoesNotExist":
                return False
            case _:
                return None


@dataclass(frozen=True, eq=False)
class Pool:
    """A NodePool (group karpenter.sh, any version)."""

    obj: KubeObject

    @cached_property
    def requirements(self) -> list[Requirement]:
        """What the nodes must be; an entry that can't be read restricts nothing."""
        found: list[Requirement] = []
        for entry in items(self.obj.get("spec", "template", "spec", "requirements")):
            key = dig(entry, "key") if isinstance(entry, dict) else None
            if isinstance(key, str):
                found.append(
                    Requirement(key.rsplit("/", 1)[-1], dig(entry, "operator"), items(dig(entry, "values")))
                )
        return found

    @cached_property
    def can_offer_gpus(self) -> bool:
        """False only when some requirement leaves out every GPU type (or the limit is zero)."""
        if self.static is None and self.limit == 0:
            return False
        return all(_leaves_gpus(requirement) for requirement in self.requirements)

    @cached_property
    def serves_gpus(self) -> bool:
        """Meant for GPUs: a requirement asks for them, or a positive GPU limit is stated."""
        if not self.can_offer_gpus:
            return False
        stated = self.limit is not None
        return stated or any(_wants_gpus(requirement) for requirement in self.requirements)

    @cached_property
    def static(self) -> int | Unknown | None:
        """Nodes of a static pool (`spec.replicas`); the node limit bounds what a replacement adds."""
        replicas = self.obj.get("spec", "replicas")
        if replicas is None:
            return None
        nodes, limit = whole(replicas), self.obj.get("spec", "limits", "nodes")
        most = None if limit is None else quantity(limit)
        if nodes is None or (limit is not None and most is None):
            return UNKNOWN
        return nodes if most is None else max(nodes, int(most))

    @cached_property
    def limit(self) -> Fraction | Unknown | None:
        """The stated GPU limit; `None` when there is none."""
        stated = self.obj.get("spec", "limits", GPU)
        if stated is None:
            return None
        amount = quantity(stated)
        return UNKNOWN if amount is None or amount < 0 else amount

    @cached_property
    def most_gpus(self) -> Fraction | Unknown | None:
        """GPUs it may hold: nodes of a static pool times the largest, else the limit; `None` is no bound."""
        if self.static is None:
            return self.limit
        per_node = self.gpus_per_node
        if isinstance(self.static, Unknown) or per_node is None:
            return UNKNOWN
        return Fraction(self.static * per_node)

    @cached_property
    def gpus_per_node(self) -> int | None:
        """GPUs of the largest node the requirements allow; `None` when they name no count or known type."""
        bounds: list[int] = []
        for requirement in self.requirements:
            if requirement.key == "instance-gpu-count" and requirement.operator == "In":
                counts = [whole(value) for value in requirement.values]
            elif requirement.key in _NAMES[:2] and requirement.operator == "In":
                counts = [gpus_of(value) if isinstance(value, str) else None for value in requirement.values]
            else:
                continue
            known = [number for number in counts if number is not None]
            if known and len(known) == len(counts):
                bounds.append(max(known))
        return min(bounds, default=None)

    @cached_property
    def spot(self) -> bool:
        """Whether it may launch spot nodes: no requirement on the capacity type allows every one."""
        return self.launches("spot")

    def launches(self, capacity_type: str) -> bool:
        """Whether no requirement leaves this capacity type out."""
        stated = [requirement for requirement in self.requirements if requirement.key == "capacity-type"]
        return all(requirement.allows(capacity_type) is not False for requirement in stated)

    @cached_property
    def taints(self) -> list[Plain]:
        """Taints that stay on its nodes."""
        return items(self.obj.get("spec", "template", "spec", "taints"))

    def takes(self, pod: Plain) -> bool:
        """Whether a pod may land here, as far as taints and selection by pool or capacity type tell."""
        if tolerated(self.taints, pod) is False:
            return False
        for key, allowed in node_demands(pod):
            if key == NODE_POOL and isinstance(self.obj.name, str):
                possible = self.obj.name in allowed
            elif key == CAPACITY_TYPE:
                possible = any(self.launches(value) for value in allowed if isinstance(value, str))
            else:
                continue
            if not possible and UNKNOWN not in allowed:
                return False
        return True


def node_demands(pod: Plain) -> list[tuple[str, list[Plain]]]:
    """What a pod demands of its node by label: nodeSelector and a single required affinity term."""
    selector = dig(pod, "spec", "nodeSelector")
    demands = [(key, [value]) for key, value in selector.items()] if isinstance(selector, dict) else []
    path = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = items(dig(pod, *path, "nodeSelectorTerms"))
    if len(terms) == 1:
        for entry in items(dig(terms[0], "matchExpressions")):
            key = dig(entry, "key")
            if isinstance(key, str) and dig(entry, "operator") == "In":
                demands.append((key, items(dig(entry, "values"))))
    return demands


def _leaves_gpus(requirement: Requirement) -> bool:
    """Whether some GPU type meets a requirement; anything not understood leaves them in."""
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if key in _NAMES:
        if operator == "In":
            return any(not isinstance(value, str) or may_have_gpus(value) for value in values)
        if operator == "NotIn" and key == "instance-category":
            return not {value for value in values if isinstance(value, str)} >= GPU_CATEGORIES
        return operator != "DoesNotExist"
    if key == "instance-gpu-count":
        numbers = [whole(value) for value in values]
        if operator == "In":
            return any(number is None or number > 0 for number in numbers)
        if operator in ("Lt", "Lte") and len(numbers) == 1 and numbers[0] is not None:
            return numbers[0] > (1 if operator == "Lt" else 0)
        return operator != "DoesNotExist"
    if key == "instance-gpu-manufacturer" and operator == "In":
        return any(value == "nvidia" or not isinstance(value, str) for value in values)
    return not (key.startswith("instance-gpu-") and operator == "DoesNotExist")


def _wants_gpus(requirement: Requirement) -> bool:
    """Whether every node that meets a requirement has a GPU."""
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if key in _NAMES and operator == "In":
        return bool(values) and all(isinstance(value, str) and may_have_gpus(value) for value in values)
    return key.startswith("instance-gpu-") and operator in ("In", "Exists", "Gt", "Gte")
