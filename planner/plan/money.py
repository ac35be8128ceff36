"""One model's monthly GPU bill."""

from __future__ import annotations

from planner.plan.cost import gpu_lines
from planner.plan.load import Typical
from specs.settings.model import Model
from specs.settings.stack import Settings


def gpu_bill(settings: Settings, model: Model, month: Typical) -> float:
    """USD of nodes, spares, overhead and disks in a typical month."""
    return sum(line.typical for line in gpu_lines(settings, model, month))
