"""Kubernetes quantities as exact numbers (k8s.io/apimachinery/pkg/api/resource/quantity.go)."""

from __future__ import annotations

import re
from decimal import Decimal

_SUFFIX = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1),
    "k": Decimal(10) ** 3, "M": Decimal(10) ** 6, "G": Decimal(10) ** 9, "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15, "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10, "Mi": Decimal(2) ** 20, "Gi": Decimal(2) ** 30, "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50, "Ei": Decimal(2) ** 60,
}  # fmt: skip
_QUANTITY = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3}|[numkMGTPE]i?|)", re.ASCII)
MEBI = 2**20
GIBI = 2**30


class QuantityError(ValueError):
    """Not a Kubernetes quantity in the wanted range; `allowed` says what is."""

    def __init__(self, allowed: str) -> None:
        super().__init__(allowed)
        self.allowed = allowed


def _number(value: object) -> Decimal:
    match = _QUANTITY.fullmatch(str(value)) if not isinstance(value, bool) else None
    if match is None:
        raise QuantityError("a Kubernetes quantity such as 6, 5500m or 24Gi")
    digits, suffix = match.groups()
    if suffix[:1] in {"e", "E"} and len(suffix) > 1 and suffix[1] != "i":
        return Decimal(digits + suffix)
    if suffix not in _SUFFIX:
        raise QuantityError("a Kubernetes quantity such as 6, 5500m or 24Gi")
    return Decimal(digits) * _SUFFIX[suffix]


def parse_number(value: object) -> float:
    """Any quantity as a number, a metric's value among them: "420m" -> 0.42, "-3" -> -3. Raises QuantityError."""
    text = str(value)
    return -float(_number(text[1:])) if text.startswith("-") else float(_number(value))


def parse_cpu(value: object) -> int:
    """Millicores of a CPU quantity: "6" -> 6000, "5500m" -> 5500. Raises QuantityError."""
    cores = _number(value)
    if not Decimal("0.001") <= cores <= 4096:
        raise QuantityError("a CPU quantity from 1m to 4096 cores")
    return int((cores * 1000).to_integral_value(rounding="ROUND_CEILING"))


def parse_bytes(value: object) -> int:
    """Bytes of a memory quantity: "24Gi" -> 25769803776. Raises QuantityError."""
    size = _number(value)
    if not MEBI <= size <= 2**50:
        raise QuantityError("a memory quantity from 1Mi to 1Pi, with its unit, such as 24Gi")
    return int(size.to_integral_value(rounding="ROUND_CEILING"))
