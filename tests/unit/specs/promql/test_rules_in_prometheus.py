"""The rendered rules and triggers in the real Prometheus give what the replay computes from the same tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from specs import metrics_names as names
from specs.offered import offered
from specs.promql import (
    Aggregate,
    Binary,
    Clamp,
    Expr,
    Largest,
    Metric,
    Number,
    OverTime,
    PredictLinear,
    Vector,
    render,
)
from tests.unit.specs.promql.agreement import agree, every_record, series, traffic
from tests.unit.specs.promql.reference import Expectation, judge
from tests.unit.specs.promql.replayed import Samples
from tests.unit.specs.stack import only, settings

HOUR = 3600


def test_each_record_of_two_hours_agrees(tmp_path: Path) -> None:
    found = settings()
    moments = [600, 1830, HOUR, 2 * HOUR - 30]
    agree(tmp_path, found, traffic(2 * HOUR, 5, 1), 5, moments, every_record(found))


def test_the_direct_query_agrees_between_scrapes(tmp_path: Path) -> None:
    found = settings()
    model = only(found)
    values = traffic(1800, 5, 3)
    samples, query = Samples(values, 5, ()), offered(found, model)
    moments = (7, 33, 61, 302, 601, 1799)
    expected = [Expectation(render(query), moment, samples.value(query, float(moment))) for moment in moments]
    judge(tmp_path, [], 5, series(model, values), expected, tick="1s")


def test_a_router_that_has_sent_nothing_reads_zero_and_no_router_reads_empty(tmp_path: Path) -> None:
    found = settings()
    query = render(offered(found, only(found)))
    idle = {key: [1.0] * 60 for key in series(only(found), []) if key.startswith(names.ROUTER_WORKERS)}
    judge(tmp_path, [], 5, idle, [Expectation(query, 250, 0.0)])
    judge(tmp_path, [], 5, {"up": [1.0] * 60}, [Expectation(query, 250, None)])


OFFERED = Metric(names.OFFERED, (("namespace", "llm-serving"), ("headroom_model", "llama3-8b")))


@pytest.mark.parametrize(
    "expr",
    [
        Aggregate("max", OverTime("quantile", OFFERED, 900, 0.95)),
        Aggregate("max", OverTime("max", OFFERED, 600)),
        Aggregate("max", OverTime("min", OFFERED, 600)),
        Aggregate("max", OverTime("avg", OFFERED, 450)),
        Aggregate("max", OverTime("count", OFFERED, 450)),
        Aggregate("max", PredictLinear(OFFERED, 900, 187)),
        Binary("or", Binary(">", Aggregate("max", OFFERED), Number(1e9)), Vector(7)),
        Clamp("clamp_max", Aggregate("max", OFFERED), 0.25),
        Largest((Aggregate("max", OFFERED), Vector(3), Aggregate("max", Metric("absent_series")))),
        Binary("/", Vector(1), Number(3)),
    ],
    ids=lambda expr: render(expr)[:40],
)
def test_each_function_agrees(expr: Expr, tmp_path: Path) -> None:
    agree(tmp_path, settings(), traffic(1800, 5, 4), 5, [1799], [expr])
