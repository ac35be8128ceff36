"""Replay of a trace through the whole scaling loop, as the stack's own configuration deploys it."""

from planner.replay.policy import POLICIES
from planner.replay.result import ReplayResult
from planner.replay.simulate import Conditions, ReplayError, run

__all__ = ["POLICIES", "Conditions", "ReplayError", "ReplayResult", "run"]
