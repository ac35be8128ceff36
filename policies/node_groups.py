"""GPU capacity outside Karpenter: EKS managed node groups and plain instances."""

from collections.abc import Iterable
from fractions import Fraction

from policies.declared import Resource
from policies.instances import gpus_of
from policies.plain import Plain, Unknown, dig, items
from policies.quantity import whole

GROUP = "aws:eks/nodeGroup:NodeGroup"
INSTANCE = "aws:ec2/instance:Instance"


def gpu_groups(resources: Iterable[Resource]) -> list[tuple[Resource, Fraction | Unknown]]:
    """Node groups and instances with GPUs, each with the most it may hold (maxSize x the largest type)."""
    found = [(item, _most(item)) for item in resources if item.type in (GROUP, INSTANCE)]
    return [(item, most) for item, most in found if most != 0]


def _most(item: Resource) -> Fraction | Unknown:
    if item.type == INSTANCE:
        return _gpus([item.get("instanceType")], 1)
    types = items(item.get("instanceTypes"))
    ami = item.get("amiType")
    accelerated = isinstance(ami, str) and ("GPU" in ami or "NVIDIA" in ami)
    if not types:
        return Unknown.UNKNOWN if accelerated else Fraction(0)
    return _gpus(types, whole(dig(item.get("scalingConfig"), "maxSize")))


def _gpus(types: list[Plain], nodes: int | None) -> Fraction | Unknown:
    """An unknown type of a machine is not taken for a GPU machine; an unknown number of GPU machines is unknown."""
    counts = [gpus_of(name) for name in types if isinstance(name, str)]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return Unknown.UNKNOWN
    largest = max(known, default=0)
    if largest and nodes is None:
        return Unknown.UNKNOWN
    return Fraction(largest * (nodes or 0))
