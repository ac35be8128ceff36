"""Replay of a trace through the whole scaling loop, as the stack's own configuration deploys it."""

from planner.replay.errors import ReplayError
from planner.replay.floor import ALLOWED_SHARE, Floor, recommended_floor
from planner.replay.policy import POLICIES
from planner.replay.result import ReplayResult
from planner.replay.simulate import run
from planner.replay.stage import Conditions

__all__ = [
    "ALLOWED_SHARE",
    "POLICIES",
    "Conditions",
    "Floor",
    "ReplayError",
    "ReplayResult",
    "recommended_floor",
    "run",
]
