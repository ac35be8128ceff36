"""Prometheus and the replay on the same samples."""

from __future__ import annotations

import random
from pathlib import Path

from specs import metrics_names as names
from specs.demand import groups, rules
from specs.offered import recorded
from specs.promql import Expr, render
from specs.settings import Model, Settings
from tests.unit.specs.promql.reference import Expectation, judge
from tests.unit.specs.promql.replayed import Samples
from tests.unit.specs.stack import only


def traffic(seconds: int, interval: int, seed: int) -> list[float]:
    """A counter under load that wanders and jumps."""
    source = random.Random(seed)  # noqa: S311 - traffic, no secret
    total, rate, values = 0.0, 4.0, [0.0]
    for _ in range(seconds // interval):
        rate = min(12.0, max(0.2, rate * source.uniform(0.93, 1.075)))
        if source.random() < 0.01:
            rate = source.uniform(0.5, 10.0)
        total += float(sum(1 for _ in range(int(rate * interval * 2)) if source.random() < 0.5))
        values.append(total)
    return values


def series(model: Model, values: list[float]) -> dict[str, list[float]]:
    labels = f'{{namespace="{model.namespace}",headroom_model="{model.name}"'
    return {
        f'{names.ROUTER_ATTEMPTS}{labels},worker="a"}}': values,
        f'{names.ROUTER_WORKERS}{labels},pod="r"}}': [1.0] * len(values),
    }


def agree(
    folder: Path, found: Settings, values: list[float], interval: int, moments: list[int], asked: list[Expr]
) -> None:
    model = only(found)
    samples = Samples(values, interval, rules(found, model))
    expected = [
        Expectation(render(expr), moment, samples.value(expr, float(moment)))
        for expr in asked
        for moment in moments
    ]
    assert any(item.value is not None for item in expected)
    judge(folder, groups(found, model), interval, series(model, values), expected)


def every_record(found: Settings) -> list[Expr]:
    model = only(found)
    return [recorded(rule.record, model) for rule in rules(found, model)]
