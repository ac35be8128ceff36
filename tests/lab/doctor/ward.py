"""A stack on a lab, and the doctor who looks at it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from lightkube import Client

from lab.control.plane import Plane
from lab.doctor.diagnosis import Diagnosis
from lab.doctor.patients import Patient
from tests.lab.control.conftest import eventually


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
        last: list[Diagnosis] = []

        def look() -> bool:
            last[:] = [self.patient.examined()]
            return holds(last[0])

        try:
            eventually(look)
        except pytest.fail.Exception as failure:
            told = [one for one in last[0].findings if one.verdict in ("fail", "unknown")]
            raise AssertionError("\n".join(map(str, told)) or "all is well") from failure
        return last[0]
