"""The keeper: restarts what died, and feeds Prometheus from the monitors in the API server."""

import sys
from pathlib import Path

from lab.control.component import Component, Health
from lab.control.parts.context import Context

_PROJECT = Path(__file__).parents[3]


def keeper(lab: Context) -> Component:
    """One process for both duties, for the sake of memory."""
    argv = (sys.executable, "-m", "lab.control.keeper", str(lab.layout.root))
    environment = {"PYTHONPATH": str(_PROJECT), "PYTHONUNBUFFERED": "1"}
    health = Health(url=f"{lab.url('keeper')}/healthz")
    return Component(name="keeper", argv=argv, environment=environment, health=health, grace=5.0)
