"""The local stack on a lab."""

from collections.abc import Generator

import pytest

from lab.doctor.patients import on_lab
from lab.stage.stage import open_stage
from tests.lab.doctor.ward import Ward

FACTOR = 0.05


@pytest.fixture(scope="package")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Generator[Ward]:
    """Start-ups take a twentieth of the planned seconds."""
    stage = open_stage(tmp_path_factory.mktemp("doctor") / "lab", "local", factor=FACTOR)
    try:
        outcome = stage.up()
        assert outcome.ok, outcome.problems
        patient = on_lab(stage.plane.state_dir, "local", stage.settings)
        try:
            yield Ward(stage.plane, patient.client, patient)
        finally:
            patient.close()
    finally:
        stage.close()
