"""How EC2 behaves in the lab from now on: the time a node takes to join, and offerings without capacity."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.control.layout import Layout
from lab.control.parts.karpenter import LAUNCHES


@dataclass(frozen=True, kw_only=True)
class Offering:
    """Capacity that EC2 refuses with InsufficientInstanceCapacity; an empty field matches everything."""

    instance_type: str = ""
    zone: str = ""
    capacity_type: str = ""


def write(state_dir: Path, *, seconds: float, unavailable: Sequence[Offering] = ()) -> None:
    """Sets both for every launch from now on; replaces what was set before. Only the AWS provider reads it."""
    content = {
        "seconds": seconds,
        "unavailable": [
            {"instanceType": one.instance_type, "zone": one.zone, "capacityType": one.capacity_type}
            for one in unavailable
        ],
    }
    layout = Layout(state_dir.absolute())
    layout.write(layout.config(LAUNCHES), json.dumps(content))
