"""What a stack will do and cost, before you pay."""

from planner.plan.build import Plan, plan
from planner.plan.difference import Difference, difference
from planner.plan.markdown import as_markdown
from planner.plan.table import render_difference, render_table

__all__ = [
    "Difference",
    "Plan",
    "as_markdown",
    "difference",
    "plan",
    "render_difference",
    "render_table",
]
