"""Replicas that are paid for without a single request: the minimum, schedules and warm spares."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from specs.cron import parse
from specs.offered import most_replicas
from specs.settings.model import Model, ScheduleEntry
from specs.settings.stack import Settings

# A year of whole weeks, so that every weekday counts the same; any year would do.
START = datetime(2026, 1, 5, tzinfo=ZoneInfo("UTC"))
DAYS = 364


def held_replicas(settings: Settings, model: Model) -> float:
    """Mean replicas over a year without traffic, spares not counted: replicas.min, raised inside the schedules'
    windows (the largest of overlapping ones counts, as the HPA takes the maximum)."""
    most = most_replicas(settings, model)
    least = min(model.replicas.min, most)
    edges: list[tuple[datetime, int, int]] = []
    for number, entry in enumerate(model.scaling.schedule):
        for begin, end in _windows(entry):
            edges += [(begin, number, min(entry.replicas, most)), (end, number, 0)]
    level, before, total = {-1: least}, START, 0.0
    for moment, number, replicas in sorted(edges):
        total += max(level.values()) * (moment - before).total_seconds()
        level[number], before = replicas, moment
    finish = START + timedelta(days=DAYS)
    total += max(level.values()) * (finish - before).total_seconds()
    return total / (finish - START).total_seconds()


def _windows(entry: ScheduleEntry) -> list[tuple[datetime, datetime]]:
    """The windows of one entry within the year, in UTC."""
    zone, finish = ZoneInfo(entry.timezone), START + timedelta(days=DAYS)
    start, end = parse(entry.start), parse(entry.end)
    found: list[tuple[datetime, datetime]] = []
    # The search is for what comes strictly after; a window may begin at the start itself.
    moment = START.astimezone(zone).replace(tzinfo=None) - timedelta(minutes=1)
    last = finish.astimezone(zone).replace(tzinfo=None)
    while moment < last:
        begin = start.after(moment)
        if begin is None or begin >= last:
            break
        stop = end.after(begin) or last
        found.append((_utc(begin, zone), _utc(min(stop, last), zone)))
        # A window may begin in the very minute in which the one before ends.
        moment = stop - timedelta(minutes=1)
    return [(begin, min(stop, finish)) for begin, stop in found if begin < finish]


def _utc(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.replace(tzinfo=zone).astimezone(START.tzinfo)
