"""Cron triggers over the time of a trace."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from specs import cron
from specs.triggers import CronTrigger

INFINITY = float("inf")


class Window:
    """A cron trigger's window; remembers when it may change next."""

    def __init__(self, trigger: CronTrigger, start: datetime) -> None:
        self.trigger = trigger
        self._zero = start
        self._zone = ZoneInfo(trigger.timezone)
        self._begin, self._finish = cron.parse(trigger.start), cron.parse(trigger.end)
        self._until = -INFINITY
        self._open = False

    def open(self, moment: float) -> bool:
        """The window is open at `moment`."""
        if moment >= self._until:
            now = (self._zero + timedelta(seconds=moment)).astimezone(self._zone)
            self._open = cron.within(self._begin, self._finish, now)
            following = [
                when for when in (self._begin.after(now), self._finish.after(now)) if when is not None
            ]
            change = min(following, default=None)
            self._until = INFINITY if change is None else moment + (change - now).total_seconds()
        return self._open
