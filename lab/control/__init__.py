"""The control plane of the lab: real controllers as processes on loopback, in one folder."""

from lab.control.component import Component, Health
from lab.control.errors import LabError
from lab.control.parts.registry import API, CLUSTER, FULL, LIGHT
from lab.control.parts.router import router
from lab.control.plane import DEFAULT_STATE, Plane, attach, down, up
from lab.control.report import ComponentStatus, LabStatus, status, table
from lab.control.settings import AwsSettings, LabSettings
from lab.control.single import add, kill, remove, resume, stop

__all__ = [
    "API",
    "CLUSTER",
    "DEFAULT_STATE",
    "FULL",
    "LIGHT",
    "AwsSettings",
    "Component",
    "ComponentStatus",
    "Health",
    "LabError",
    "LabSettings",
    "LabStatus",
    "Plane",
    "add",
    "attach",
    "down",
    "kill",
    "remove",
    "resume",
    "router",
    "status",
    "stop",
    "table",
    "up",
]
