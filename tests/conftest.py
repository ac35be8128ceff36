"""What every tier may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.tools import ensure


@pytest.fixture(scope="session")
def cli() -> Path:
    """The Pulumi CLI: HEADROOM_PULUMI, PATH, or built once; found before a test hides the user's home and with
    it the tool cache."""
    stated = os.environ.get("HEADROOM_PULUMI")
    return Path(stated) if stated else ensure(["pulumi"])["pulumi"]
