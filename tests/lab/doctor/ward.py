"""A stack on a lab, and the doctor who looks at it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from lightkube import Client

from lab.control.plane import Plane
from lab.doctor.diagnosis import Diagnosis
from lab.doctor.patients import Patient

PATIENCE = 120.0


@dataclass(frozen=True)
class Ward:
    """The lab, a client of it, and the stack as the doctor sees it."""

    plane: Plane
    client: Client
    patient: Patient

    @staticmethod
    def failing(found: Diagnosis) -> set[str]:
        """`of/check` of what fails."""
        return {f"{one.of}/{one.check}" for one in found.findings if one.verdict == "fail"}

    def until(self, holds: Callable[[Diagnosis], bool]) -> Diagnosis:
        """Looks until the diagnosis is as said; fails the test with what is not well otherwise."""
        deadline = time.monotonic() + PATIENCE
        while not holds(found := self.patient.examined()):
            if time.monotonic() > deadline:
                told = [one for one in found.findings if one.verdict in ("fail", "unknown")]
                pytest.fail("\n".join(map(str, told)) or "all is well")
            time.sleep(0.3)
        return found
