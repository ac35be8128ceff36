"""NVIDIA GPUs of EC2 instance types, for pools that name types instead of a GPU count.

Source: EC2 DescribeInstanceTypes, GpuInfo.Gpus, July 2026. Fractional types (g6f, gr6f) count 0 to Karpenter
(karpenter-provider-aws v1.15 labels.go), g4ad carries AMD cards, g5g is arm64 with NVIDIA ones.
"""

import re

_BY_SIZE = {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
_SERVER = {"12xlarge": 2, "24xlarge": 4, "48xlarge": 8}
_FAMILIES: dict[str, tuple[int, dict[str, int]]] = {
    # family: (GPUs of a size not named, GPUs of the sizes named)
    "g4dn": (1, {"12xlarge": 4, "metal": 8}),
    "g5": (1, _BY_SIZE),
    "g5g": (1, {"16xlarge": 2, "metal": 2}),
    "g6": (1, _BY_SIZE),
    "g6e": (1, _BY_SIZE),
    "g6f": (0, {}),
    "gr6": (1, {}),
    "gr6f": (0, {}),
    "g7": (1, _SERVER),
    "g7e": (1, _SERVER),
    "p2": (16, {"xlarge": 1, "8xlarge": 8}),
    "p3": (8, {"2xlarge": 1, "8xlarge": 4, "16xlarge": 8}),
    "p3dn": (8, {}),
    "p4d": (8, {}),
    "p4de": (8, {}),
    "p5": (8, {"4xlarge": 1}),
    "p5e": (8, {}),
    "p5en": (8, {}),
    "p6-b200": (8, {}),
    "p6-b300": (8, {}),
    "p6e-gb200": (4, {}),
}
_GPU_NAME = re.compile(r"(?:gr|g|p)[0-9]|gpu", re.IGNORECASE)
GPU_CATEGORIES = frozenset({"g", "gr", "p"})


def may_have_gpus(name: str) -> bool:
    """Whether an instance type, family or category of this name can carry an NVIDIA GPU."""
    if name.startswith("g4ad"):
        return False
    if name in GPU_CATEGORIES:
        return True
    family, _, size = name.partition(".")
    if family in _FAMILIES:
        usual, named = _FAMILIES[family]
        return (named.get(size, usual) if size else max(usual, *named.values(), 0)) > 0
    return _GPU_NAME.match(name) is not None


def gpus_of(name: str) -> int | None:
    """GPUs of an instance type, or of the largest type of a family; `None` when it is not in the table."""
    family, _, size = name.partition(".")
    if not may_have_gpus(name):
        return 0
    if family not in _FAMILIES:
        return None
    usual, named = _FAMILIES[family]
    return named.get(size, usual) if size else max(usual, *named.values(), 0)
