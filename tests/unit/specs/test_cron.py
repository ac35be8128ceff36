"""Cron schedules as KEDA reads them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from specs.cron import CronError, parse, within

MONDAY = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("45 8 * * 1-5", datetime(2026, 1, 5, 8, 45, tzinfo=UTC)),
        ("*/20 * * * *", datetime(2026, 1, 5, 7, 40, tzinfo=UTC)),
        ("0 0 1 * *", datetime(2026, 2, 1, tzinfo=UTC)),
        ("0 0 * * sun", datetime(2026, 1, 11, tzinfo=UTC)),
        ("0 0 13 * 5", datetime(2026, 1, 9, tzinfo=UTC)),  # either day field, when both are given
        ("30 7 * * *", datetime(2026, 1, 6, 7, 30, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("5/30 7 * * *", datetime(2026, 1, 5, 7, 35, tzinfo=UTC)),
    ],
)
def test_the_next_firing_is_found(text: str, expected: datetime) -> None:
    assert parse(text).after(MONDAY) == expected


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7",
     "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,,2 * * * *", "-1 * * * *", "@daily", "٣ * * * *"],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(CronError):
        parse(text)


def test_a_day_that_does_not_exist_never_comes() -> None:
    assert not parse("0 0 30 2 *").ever()
    assert parse("0 0 29 2 *").ever()


@pytest.mark.parametrize(
    ("hour", "minute", "is_open"), [(8, 44, False), (8, 45, True), (17, 59, True), (18, 0, False)]
)
def test_a_window_begins_and_ends_on_the_minute(hour: int, minute: int, is_open: bool) -> None:
    moment = datetime(2026, 1, 5, hour, minute, tzinfo=ZoneInfo("America/New_York"))
    assert within(parse("45 8 * * 1-5"), parse("0 18 * * 1-5"), moment) is is_open
