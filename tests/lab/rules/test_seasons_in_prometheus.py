"""A day of samples through the real Prometheus: seasons, backtests and gates (half a minute)."""

from __future__ import annotations

from pathlib import Path

from tests.unit.specs.promql.agreement import agree, every_record, traffic
from tests.unit.specs.stack import settings

HOUR = 3600


def test_each_record_agrees_when_yesterday_is_known(tmp_path: Path) -> None:
    found = settings(platform={"prometheus": {"scrapeSeconds": 30}})
    moments = [24 * HOUR + 1800, 27 * HOUR - 30]
    agree(tmp_path, found, traffic(27 * HOUR, 30, 2), 30, moments, every_record(found))
