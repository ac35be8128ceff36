"""One stack's review: resources, policies, seconds, dollars and GPUs, before and after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from lab.cloud.outcome import Step, Violation
from lab.review.resources import ORDER, Touched
from planner.plan.build import Plan
from planner.plan.difference import Difference
from specs.policy_pack import known_policies
from specs.problems import Problem

Status = Literal["passed", "blocked", "refused", "failed"]
"""`blocked`: a mandatory policy was broken. `refused`: the configuration or the cloud would not take it. `failed`: the
engine did not end."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One policy's word; `judged` is false where the preview did not come to it."""

    policy: str
    level: str
    findings: tuple[Violation, ...]
    judged: bool

    @property
    def passed(self) -> bool | None:
        """None where nobody knows."""
        return False if self.findings else True if self.judged else None


@dataclass(frozen=True, kw_only=True)
class Review:
    """Everything that a reviewer is told of one stack.

    `before` and `difference` are None where the base has no such stack or its configuration can't be read; `touched`
    and `after` where the head's is refused. `numbers_before` and `numbers_after` are the policies' own
    configuration. `notes` are one line each.
    """

    stack: str
    problems: tuple[Problem, ...] = ()
    touched: Touched | None = None
    before: Plan | None = None
    after: Plan | None = None
    difference: Difference | None = None
    numbers_before: Mapping[str, object] | None = None
    numbers_after: Mapping[str, object] | None = None
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        if self.problems or self.touched is None:
            return "refused"
        word = self.touched.outcome.status
        told: Mapping[str, Status] = {"succeeded": "passed", "violated": "blocked", "refused": "refused"}
        return told.get(word, "failed")

    @property
    def changes(self) -> tuple[Step, ...]:
        return self.touched.changes if self.touched else ()

    @property
    def counts(self) -> Mapping[str, int]:
        """Changed resources by what happens to them."""
        found = Counter(step.op for step in self.changes)
        return {op: found[op] for op in (*ORDER, *sorted(set(found) - set(ORDER))) if found[op]}

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Each policy of the pack, in its order, and any other that found something."""
        found = self.touched.outcome.violations if self.touched else ()
        judged = self.touched is not None and self.touched.outcome.status != "failed"
        known = {str(policy["name"]): str(policy["enforcementLevel"]) for policy in known_policies()}
        known |= {item.policy: item.level for item in found if item.policy not in known}
        return [
            Verdict(
                policy=name,
                level=_level(self.numbers_after, name) or level,
                findings=tuple(item for item in found if item.policy == name),
                judged=judged,
            )
            for name, level in known.items()
        ]

    @property
    def numbers_changed(self) -> Sequence[tuple[str, object, object]]:
        """Numbers of policies that differ from the base: `policy.property`, before, after."""
        before, after = _flat(self.numbers_before), _flat(self.numbers_after)
        return [
            (key, before.get(key), after.get(key))
            for key in sorted({*before, *after})
            if before.get(key) != after.get(key)
        ]

    def as_json(self) -> dict[str, object]:
        """One entry of `stacks` in docs/json/review.schema.json."""
        return {
            "stack": self.stack,
            "status": self.status,
            "problems": [problem.as_json() for problem in self.problems]
            or [_told(text) for text in (self.touched.outcome.problems if self.touched else ())],
            "comparedWithBase": bool(self.touched) and not (self.touched and self.touched.without),
            "resources": dict(self.counts),
            "changes": [
                {
                    "op": step.op,
                    "type": step.type,
                    "name": step.name,
                    "properties": [change.path for change in step.diff],
                }
                for step in self.changes
            ],
            "policies": [
                {
                    "policy": verdict.policy,
                    "level": verdict.level,
                    "passed": verdict.passed,
                    "findings": [{"level": item.level, "message": item.message} for item in verdict.findings],
                }
                for verdict in self.verdicts
            ],
            "policyNumbers": [
                {"item": item, "before": before, "after": after}
                for item, before, after in self.numbers_changed
            ],
            "models": _models(self.before, self.after),
            "difference": self.difference.as_json() if self.difference else None,
            "notes": list(self.notes),
        }


def _level(numbers: Mapping[str, object] | None, policy: str) -> str:
    return str(_flat(numbers).get(f"{policy}.enforcementLevel") or "")


def _told(text: str) -> dict[str, str]:
    return {"path": "preview", "given": text, "allowed": "", "fix": ""}


def _flat(numbers: Mapping[str, object] | None) -> dict[str, object]:
    flat: dict[str, object] = {}
    for policy, value in (numbers or {}).items():
        if isinstance(value, Mapping):
            flat |= {f"{policy}.{key}": inner for key, inner in cast(Mapping[str, object], value).items()}
        else:
            flat[policy] = value
    return flat


def _models(before: Plan | None, after: Plan | None) -> list[dict[str, object]]:
    was = {model.model.name: model.timing for model in before.models} if before else {}
    found: list[dict[str, object]] = []
    for model in after.models if after else ():
        times, old = model.timing, was.get(model.model.name)
        found.append(
            {
                "name": model.model.name,
                "currentTier": times.current,
                "readySloSeconds": times.ready_slo,
                "meetsSlo": times.meets_slo,
                "tiers": [
                    {
                        "tier": tier.name,
                        "beforeSeconds": round(old.tier(tier.name).total, 2) if old else None,
                        "afterSeconds": round(tier.total, 2),
                    }
                    for tier in times.tiers
                ],
            }
        )
    return found
