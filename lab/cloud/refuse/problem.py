"""One reason why AWS would not take a resource."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Problem:
    """`path` is the property; the rest is for the reader."""

    path: str
    given: str
    allowed: str
    fix: str


def short(value: object, limit: int = 120) -> str:
    """The value as a reader wants to see it, cut where it is long."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
