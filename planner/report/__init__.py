"""The report of a replay: one self-contained HTML page."""

from planner.report.page import write

__all__ = ["write"]
