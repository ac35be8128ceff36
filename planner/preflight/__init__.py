"""Questions to AWS before anything is built."""

from planner.aws.cloud import SessionFactory
from planner.preflight.ask import run, run_quotas
from planner.preflight.check import Check, as_json, fails, render_table

__all__ = ["Check", "SessionFactory", "as_json", "fails", "render_table", "run", "run_quotas"]
