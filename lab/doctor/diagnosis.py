"""All findings of one look, and what they say together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lab.doctor import checks
from lab.doctor.finding import ORDER, Finding, Verdict, worst
from lab.doctor.seen import Seen
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """`target` is what was looked at, in words; `at` when, in seconds since 1970."""

    stack: str
    target: str
    at: float
    findings: Sequence[Finding]

    @property
    def verdict(self) -> Verdict:
        """fail where anything fails, unknown where something could not be seen, else pass."""
        return worst(self.findings)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Findings by verdict, worst first."""
        found = Counter(one.verdict for one in self.findings)
        return {verdict: found[verdict] for verdict in ORDER}

    def as_json(self) -> dict[str, Any]:
        """The document of `headroom doctor --json`; docs/json/doctor.schema.json describes it."""
        return {
            "stack": self.stack,
            "target": self.target,
            "at": datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds"),
            "verdict": self.verdict,
            "counts": dict(self.counts),
            "checks": [one.as_json() for one in self.findings],
        }


def diagnose(seen: Seen, settings: Settings, stack: str, target: str) -> Diagnosis:
    """Every check on what was seen."""
    found = tuple(checks.examine(seen, settings))
    return Diagnosis(stack=stack, target=target, at=seen.at, findings=found)
