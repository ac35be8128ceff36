"""Numbers as they stand in trace files."""

from __future__ import annotations

import math

LARGEST_INTEGER = 10**9


class LineError(ValueError):
    """A value that a trace can't hold; `given` and `allowed` say what was found and what would do."""

    def __init__(self, allowed: str, given: str = "") -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.given = given


def real(text: str) -> float:
    """A finite number that is not negative. Raises LineError."""
    try:
        value = float(text)
    except ValueError:
        raise LineError("a number") from None
    if not math.isfinite(value):
        raise LineError("a finite number")
    if value < 0:
        raise LineError("a number that is not negative")
    return value


def integer(text: str) -> float:
    """A whole number that is not negative, at most LARGEST_INTEGER. Raises LineError."""
    value = real(text)
    if value != int(value):
        raise LineError("a whole number")
    if value > LARGEST_INTEGER:
        raise LineError(f"a whole number, at most {LARGEST_INTEGER}")
    return value
