"""Kubernetes quantities, int-or-percent values and durations, read exactly and without ever raising."""

import math
import re
from fractions import Fraction

from policies.plain import Plain

_SUFFIX = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(?:[eE]([+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)"
)
_PERCENT = re.compile(r"([0-9]{1,9})%")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DURATION = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,9})?(?:h|ms|m|s|us|µs|ns))+")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|s|us|µs|ns)")
_LONGEST = 10**60  # Python refuses to print integers of more than 4300 digits
_SECONDS = {
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}


def quantity(value: Plain) -> Fraction | None:
    """The exact number behind a Kubernetes quantity (`8`, `8.0`, `"8"`, `"8000m"`, `"1k"`, `"2e3"`).

    `None` for anything the API server would refuse: booleans, NaN, blanks, unknown suffixes. The grammar is
    that of k8s.io/apimachinery `resource.Quantity`.
    """
    match value:
        case bool():
            return None
        case int():
            return Fraction(value)
        case float():
            return Fraction(value) if math.isfinite(value) else None
        case str():
            found = _QUANTITY.fullmatch(value)
            if found is None:
                return None
            digits, exponent, suffix = found.groups()
            scale = Fraction(10) ** int(exponent) if exponent else _SUFFIX[suffix or ""]
            return Fraction(digits.rstrip(".")) * scale
        case _:
            return None


def whole(value: Plain) -> int | None:
    """A whole number as the API server reads an integer field; strings of digits are accepted too."""
    match value:
        case bool():
            return None
        case int():
            return value
        case float():
            return int(value) if math.isfinite(value) and value.is_integer() else None
        case str():
            return int(value) if _INTEGER.fullmatch(value) else None
        case _:
            return None


def share(value: Plain, of: int, *, round_up: bool) -> int | None:
    """An int-or-percent of `of`, rounded as `intstr.GetScaledValueFromIntOrPercent`; `None` if neither."""
    if isinstance(value, str):
        found = _PERCENT.fullmatch(value)
        if found is None:
            return None
        exact = Fraction(int(found[1]) * of, 100)
        return math.ceil(exact) if round_up else math.floor(exact)
    number = whole(value)
    return number if number is not None and number >= 0 else None


def seconds(value: Plain) -> Fraction | None:
    """A Go duration (`720h`, `1h30m`, `90s`) in seconds; `None` when it is not one (`Never` included)."""
    if not isinstance(value, str) or not _DURATION.fullmatch(value):
        return None
    return sum((Fraction(n) * _SECONDS[unit] for n, unit in _DURATION_PART.findall(value)), Fraction(0))


def text(number: Fraction | int) -> str:
    """A number for a message: whole when it is whole."""
    exact = Fraction(number)
    if abs(exact) > _LONGEST:
        return "more than 10^60" if exact > 0 else "less than -10^60"
    return str(exact.numerator) if exact.denominator == 1 else f"{float(exact):g}"
