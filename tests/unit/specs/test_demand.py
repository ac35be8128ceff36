"""The recording rules: what they publish, and what they never do."""

from __future__ import annotations

from typing import Any

import promql_parser
import pytest

from specs import metrics_names as names
from specs.demand import prometheus_rule, rules
from specs.forecast import MOST_HEADROOM
from specs.offered import most_replicas
from specs.promql import render
from tests.unit.specs.promql.replayed import Samples
from tests.unit.specs.stack import dig, only, settings

HOUR = 3600


def published(rates: list[float], **model: Any) -> Samples:
    """What the rules made of a rate per five seconds."""
    total, values = 0.0, [0.0]
    for rate in rates:
        total += rate * 5
        values.append(total)
    found = settings(model)
    return Samples(values, 5, rules(found, only(found)))


def last(samples: Samples, record: str) -> float:
    series = samples.recorded(record)
    assert series is not None
    value = series.values[-1]
    assert value is not None
    return value


def test_each_rule_bears_the_models_labels() -> None:
    found = settings()
    body = prometheus_rule(found, only(found))
    for rule in dig(body, "spec", "groups", 0, "rules"):
        assert rule["labels"] == {"namespace": "llm-serving", "headroom_model": "llama3-8b"}


def test_each_rule_is_promql() -> None:
    found = settings()
    for rule in rules(found, only(found)):
        promql_parser.parse(render(rule.expr))


def test_each_record_is_written_once_and_before_it_is_read_fresh() -> None:
    found = settings()
    records = [rule.record for rule in rules(found, only(found))]
    assert len(records) == len(set(records))
    assert records[0] == names.OFFERED


def test_without_a_capacity_only_alerts_are_left() -> None:
    found = settings({"capacity": None, "scaling": {"strategy": "concurrency"}})
    groups = dig(prometheus_rule(found, only(found)), "spec", "groups")
    assert [group["name"] for group in groups] == ["headroom-llm-serving-llama3-8b-alerts"]


def test_steady_load_asks_for_no_headroom() -> None:
    samples = published([4.0] * (2 * HOUR // 5))
    assert last(samples, names.RESERVED) == last(samples, names.OFFERED_NOW)
    assert last(samples, names.FORECAST) == last(samples, names.OFFERED_NOW)


def test_load_that_keeps_doubling_within_a_lead_time_gets_headroom() -> None:
    waves = ([3.0] * 120 + [6.0] * 120) * 12
    samples = published(waves)
    ratio = last(samples, names.RESERVED) / last(samples, names.OFFERED_NOW)
    assert 1.3 < ratio <= MOST_HEADROOM


def test_the_first_hour_after_an_installation_is_no_growth() -> None:
    samples = published([4.0] * (HOUR // 5))
    assert last(samples, names.RESERVED) == last(samples, names.OFFERED_NOW)


@pytest.mark.parametrize(("minutes", "believed"), [(40, False), (90, True)])
def test_a_trend_is_believed_only_after_an_hour_of_backtests(minutes: int, believed: bool) -> None:
    """The trend of a steady climb wins each of its backtests, from the first."""
    found = published([0.2 + 0.005 * step for step in range(minutes * 12)])
    assert (last(found, names.FORECAST) > last(found, names.OFFERED_NOW)) is believed


def test_no_rule_asks_for_less_than_the_offered_load() -> None:
    samples = published([float(3 + step % 240 / 60) for step in range(2 * HOUR // 5)])
    offered = samples.recorded(names.OFFERED_NOW)
    assert offered is not None
    for record in (names.RESERVED, names.FORECAST):
        series = samples.recorded(record)
        assert series is not None
        pairs = zip(series.values, offered.values, strict=True)
        assert all(value is None or now is None or value >= now - 1e-12 for value, now in pairs)


def test_no_rule_asks_for_more_than_max_replicas_serve() -> None:
    found = settings()
    samples = published([500.0] * 400)
    for record in (names.RESERVED, names.FORECAST):
        assert last(samples, record) <= most_replicas(found, only(found)) * 1.65 * 0.8 + 1e-9


def test_a_burst_shows_in_the_offered_rate_within_half_a_minute() -> None:
    samples = published([1.0] * 360 + [10.0] * 6)
    assert last(samples, names.OFFERED_NOW) > 8.0
    assert last(samples, names.OFFERED) < 2.5


def test_a_few_more_requests_than_usual_are_noise() -> None:
    samples = published([4.0] * 360 + [4.4] * 6)
    assert last(samples, names.OFFERED_NOW) == last(samples, names.OFFERED)
