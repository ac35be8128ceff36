"""Cron schedules as KEDA's cron scaler reads them (robfig/cron v3, five fields)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _DAYS),
)
_LONGEST_SEARCH_DAYS = 366 * 5


class CronError(ValueError):
    """Not a cron schedule; the message says which field and what it may hold."""


@dataclass(frozen=True)
class Schedule:
    """A parsed schedule. A day matches when both day fields match, or either if both are restricted."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def _day_matches(self, moment: datetime) -> bool:
        day, weekday = moment.day in self.days, (moment.weekday() + 1) % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return day and weekday
        return day or weekday

    def ever(self) -> bool:
        """The schedule fires at all (30 February does not)."""
        return self.after(datetime(2026, 1, 1)) is not None

    def after(self, moment: datetime) -> datetime | None:
        """The first firing strictly after `moment`, in its time zone; None when none comes in five years."""
        current = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = moment + timedelta(days=_LONGEST_SEARCH_DAYS)
        while current <= last:
            if current.month not in self.months or not self._day_matches(current):
                current = current.replace(hour=0, minute=0) + timedelta(days=1)
            elif current.hour not in self.hours:
                current = current.replace(minute=0) + timedelta(hours=1)
            elif current.minute not in self.minutes:
                current += timedelta(minutes=1)
            else:
                return current
        return None


def parse(text: str) -> Schedule:
    """Read five fields. Raises CronError."""
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise CronError(f"{len(parts)} fields instead of 5 (minute hour day-of-month month day-of-week)")
    sets = [_field(part, *spec) for part, spec in zip(parts, _FIELDS, strict=True)]
    free = [part.split("/")[0] in ("*", "?") for part in parts]
    return Schedule(*sets, any_day=free[2], any_weekday=free[4])


def _field(text: str, name: str, least: int, most: int, words: Sequence[str]) -> frozenset[int]:
    found: set[int] = set()
    for item in text.split(","):
        span, slash, step_text = item.partition("/")
        step = _value(step_text, name, 1, most, ()) if slash else 1
        if span in ("*", "?"):
            low, high = least, most
        else:
            start, dash, end = span.partition("-")
            low = _value(start, name, least, most, words)
            high = _value(end, name, least, most, words) if dash else (most if slash else low)
        if high < low:
            raise CronError(f"{name}: {item} ends before it begins")
        found.update(range(low, high + 1, step))
    return frozenset(found)


def _value(text: str, name: str, least: int, most: int, words: Sequence[str]) -> int:
    word = text.lower()
    if word in words:
        return words.index(word) + least
    if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
        raise CronError(f"{name}: {text!r} is not a number from {least} to {most}")
    return int(text)


def within(start: Schedule, end: Schedule, moment: datetime) -> bool:
    """`moment` lies in the window: the end comes before the next start (KEDA cron_scaler.go)."""
    next_start, next_end = start.after(moment), end.after(moment)
    if next_end is None:
        return False
    return next_start is None or next_end < next_start
