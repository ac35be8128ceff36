"""Reviews made by hand, for what the comment says of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from lab.cloud.outcome import Outcome, PropertyChange, Step, Violation
from lab.review.resources import Touched
from lab.review.review import Review
from planner.plan import Plan, plan
from specs.checks import examine


def step(op: str, kind: str, name: str, *changes: tuple[str, str]) -> Step:
    diff = tuple(PropertyChange(path=path, kind=change) for path, change in changes)
    return Step(op=op, urn=f"urn:{kind}::{name}", type=kind, name=name, diff=diff)


def finding(policy: str, message: str, level: str = "mandatory") -> Violation:
    return Violation(policy=policy, pack="headroom", level=level, severity="high", message=message, urn="urn")


def touched(
    steps: Sequence[Step] = (), findings: Sequence[Violation] = (), status: str = "", without: str = ""
) -> Touched:
    blocked = any(item.level == "mandatory" for item in findings)
    outcome = Outcome(
        operation="preview",
        stack="prod",
        status=status or ("violated" if blocked else "succeeded"),  # pyright: ignore[reportArgumentType] - a test's word
        changes={},
        steps=tuple(steps),
        violations=tuple(findings),
        diagnostics=(),
        refusals=(),
        calls=(),
        outputs={},
        seconds=1.0,
    )
    return Touched(outcome=outcome, without=without)


@cache
def planned(replicas: int) -> Plan:
    """The plan of one 8B model with that many replicas at most."""
    settings, findings = examine(
        {
            "headroom:gpuPools": [{"name": "inference", "families": ["g6"], "gpuLimit": 16}],
            "headroom:gpuBudget": {"maxGpus": 16},
            "headroom:models": [
                {
                    "name": "llama3-8b",
                    "pool": "inference",
                    "model": "meta-llama/Meta-Llama-3-8B-Instruct",
                    "weightsGiB": 15,
                    "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
                    "replicas": {"min": 1, "max": replicas},
                    "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
                }
            ],
        }
    )
    assert settings is not None, findings
    return plan(settings, "prod", search=False)


def review(**parts: object) -> Review:
    return Review(**{"stack": "prod", "touched": touched(), **parts})  # pyright: ignore[reportArgumentType] - parts vary
