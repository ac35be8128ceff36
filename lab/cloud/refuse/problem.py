"""One reason why AWS would not take a resource."""

from dataclasses import dataclass

from lab.cloud.asked import Asked
from lab.cloud.journal import Refusal


@dataclass(frozen=True, kw_only=True)
class Problem:
    """`path` is the property; the rest is for the reader."""

    path: str
    given: str
    allowed: str
    fix: str

    def of(self, asked: Asked) -> Refusal:
        """The refusal of that resource for this reason."""
        return Refusal(
            urn=asked.urn,
            type=asked.type,
            name=asked.name,
            path=self.path,
            given=self.given,
            allowed=self.allowed,
            fix=self.fix,
        )


def short(value: object, limit: int = 120) -> str:
    """The value as a reader wants to see it, cut where it is long."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
