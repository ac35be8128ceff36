"""One alert as data, and as a Prometheus rule file takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from specs.promql import duration

RUNBOOK: Final = "docs/runbook.md"
Severity = Literal["critical", "warning", "info"]
"""critical: callers are hurt, or soon will be, and somebody must act now; warning: within the day; info: to know."""


@dataclass(frozen=True)
class Alert:
    """`expr` is PromQL that has elements while the alert is due; it fires once that lasted `for_seconds`.

    `anchor` is the heading of the runbook. `summary` and `description` may name the element's labels and value as
    Go templates.
    """

    name: str
    expr: str
    for_seconds: int
    severity: Severity
    anchor: str
    summary: str
    description: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    def rule(self) -> dict[str, object]:
        """The rule."""
        held = {"for": duration(self.for_seconds)} if self.for_seconds else {}
        return {
            "alert": self.name,
            "expr": self.expr,
            **held,
            "labels": {**self.labels, "severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{RUNBOOK}#{self.anchor}",
            },
        }


def group(name: str, rules: Sequence[dict[str, object]], seconds: int) -> dict[str, object]:
    """A rule group evaluated every `seconds`."""
    return {"name": name, "interval": duration(seconds), "rules": list(rules)}


def both(*conditions: str) -> str:
    """Elements of the first condition for which every other one has an element with the same labels."""
    return " and ".join(f"({condition})" for condition in conditions)


def either(*conditions: str) -> str:
    """Elements of any of the conditions."""
    return " or ".join(f"({condition})" for condition in conditions)
