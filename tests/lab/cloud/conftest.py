"""The engine's CLI for tests that pass objects to a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.tools import ensure


@pytest.fixture(scope="session")
def cli() -> Path:
    """The Pulumi CLI: from PATH, or built once."""
    return ensure(["pulumi"])["pulumi"]
