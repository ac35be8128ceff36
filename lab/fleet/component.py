"""The fleet as a component of a lab, and how a running one is reached."""

import ipaddress
import sys
from pathlib import Path

from lab.control import single
from lab.control.component import Component, Health
from lab.control.layout import Layout
from lab.control.plane import Plane
from lab.fleet.settings import FleetSettings

NAME = "fleet"
CONTROL_PORT = 8000
_PROJECT = Path(__file__).parents[2]


def tell(plane: Plane, settings: FleetSettings) -> None:
    """Starts the fleet, or tells the one that runs, which heeds it from its next engine on. Raises LabError."""
    settings = settings.model_copy(update={"own_images": plane.settings.own_images})
    plane.layout.write(config_path(plane.layout), settings.model_dump_json(indent=1))
    single.add(plane.state_dir, _component(plane))


def _component(plane: Plane) -> Component:
    return Component(
        name=NAME,
        argv=(sys.executable, "-m", "lab.fleet", str(plane.state_dir)),
        environment={"PYTHONPATH": str(_PROJECT), "PYTHONUNBUFFERED": "1"},
        health=Health(url=f"{control_url(plane.pods)}/healthz"),
        grace=5.0,
    )


def config_path(layout: Layout) -> Path:
    """Where the fleet reads its settings."""
    return layout.config("fleet.json")


def control_url(pods: str) -> str:
    """The fleet's own address: the last one of the pods' network, which kwok, counting from below, never gives."""
    return f"http://{control_address(pods)}:{CONTROL_PORT}"


def control_address(pods: str) -> str:
    """The address alone."""
    return str(ipaddress.ip_network(pods)[-2])
