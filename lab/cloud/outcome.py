"""What an operation of the engine did, as small records: while it runs, and when it is over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lab.cloud.journal import Call, Refusal

Operation = Literal["preview", "up", "refresh", "destroy"]
Status = Literal["succeeded", "violated", "refused", "failed"]
"""`violated`: a mandatory policy was broken. `refused`: the cloud would not accept an input. `failed`:
anything else."""


@dataclass(frozen=True, kw_only=True)
class PropertyChange:
    """A changed property; `kind` is the engine's: add, delete, update, or the same with `-replace`."""

    path: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One resource operation. `op` is the engine's word: create, update, replace, create-replacement,
    delete, same, ..."""

    op: str
    urn: str
    type: str
    name: str
    failed: bool = False
    diff: tuple[PropertyChange, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parent: str = ""


@dataclass(frozen=True, kw_only=True)
class StepStarted:
    """A resource operation begins."""

    op: str
    urn: str
    type: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A policy finding. `level` is advisory, mandatory, remediate or disabled; `severity` may be empty."""

    policy: str
    pack: str
    level: str
    severity: str
    message: str
    urn: str


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """A message of the engine, the program or a provider. `severity` is info, warning or error."""

    severity: str
    message: str
    urn: str


Event = StepStarted | Step | Violation | Diagnostic
OnEvent = Callable[[Event], None]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of an operation.

    `changes` counts steps by the engine's word for them; `steps` are in the order in which they ended;
    `refusals` and `calls` come from the recorded cloud; an output that is not known yet is None; `seconds` is
    wall time from the first command of the engine to its end.
    """

    operation: Operation
    stack: str
    status: Status
    changes: Mapping[str, int]
    steps: tuple[Step, ...]
    violations: tuple[Violation, ...]
    diagnostics: tuple[Diagnostic, ...]
    refusals: tuple[Refusal, ...]
    calls: tuple[Call, ...]
    outputs: Mapping[str, Any]
    seconds: float

    @property
    def ok(self) -> bool:
        return self.status == "succeeded"

    @property
    def changed(self) -> int:
        """How many resources differ from what was there."""
        return sum(count for op, count in self.changes.items() if op not in ("same", "read", "refresh"))

    @property
    def problems(self) -> tuple[str, ...]:
        """Every reason why the operation is not a success, one line each, without duplicates."""
        mandatory = [f"{v.policy}: {v.message}" for v in self.violations if v.level == "mandatory"]
        refused = [refusal.reason for refusal in self.refusals]
        errors = [
            d.message
            for d in self.diagnostics
            if d.severity == "error" and not any(r in d.message for r in refused)
        ]
        return tuple(dict.fromkeys([*(str(refusal) for refusal in self.refusals), *mandatory, *errors]))
