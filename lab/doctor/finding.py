"""One check's verdict, what it rests on, and how to mend it."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

Verdict = Literal["pass", "fail", "unknown", "not-applicable"]
"""``unknown``: what the verdict needs could not be read. It is never a pass."""
ORDER: Final[tuple[Verdict, ...]] = ("fail", "unknown", "pass", "not-applicable")
"""Worst first."""
STACK: Final = "stack"
"""What a check is about that is of no single model or pool."""


@dataclass(frozen=True)
class Finding:
    """`of` is the model, the pool, or STACK. `evidence` says what was read, `mend` a command or a key to change."""

    check: str
    of: str
    verdict: Verdict
    evidence: str
    mend: str = ""

    def as_json(self) -> dict[str, str]:
        """One entry of `checks` in docs/json/doctor.schema.json."""
        return asdict(self)


@dataclass(frozen=True)
class Check:
    """A check by its name; each method is a verdict on it."""

    name: str
    of: str

    def passes(self, evidence: str) -> Finding:
        """All is as it should be."""
        return Finding(self.name, self.of, "pass", evidence)

    def fails(self, evidence: str, mend: str) -> Finding:
        """It is not."""
        return Finding(self.name, self.of, "fail", evidence, mend)

    def unknown(self, reason: str, mend: str = "") -> Finding:
        """It could not be seen."""
        return Finding(self.name, self.of, "unknown", reason, mend)

    def not_applicable(self, reason: str) -> Finding:
        """The configuration asks for nothing of the kind."""
        return Finding(self.name, self.of, "not-applicable", reason)

    def holds(self, problems: Sequence[str], otherwise: str, mend: str) -> Finding:
        """Fails with the problems, passes with `otherwise` where there are none."""
        return self.fails("; ".join(problems), mend) if problems else self.passes(otherwise)


def worst(findings: Iterable[Finding]) -> Verdict:
    """fail before unknown before pass; not-applicable counts as nothing. Nothing at all is unknown."""
    found = {one.verdict for one in findings} - {"not-applicable"}
    if "fail" in found:
        return "fail"
    return "pass" if found == {"pass"} else "unknown"
