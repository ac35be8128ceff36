"""A schedule that holds at any time of any day."""

HALVES = (("0 0 * * *", "0 12 * * *"), ("0 12 * * *", "0 0 * * *"))
"""Start and end: midnight to noon, and noon to midnight."""
