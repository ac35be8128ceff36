"""The replay's evaluator on given samples, rules in order at each tick as Prometheus runs a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.replay.evaluate import compiled
from planner.replay.series import Counter, Recorded, Sample
from specs import metrics_names as names
from specs.forecast import RULE_SECONDS, Rule
from specs.promql import Expr, Metric


class Samples:
    """Counter samples from second 0 on, a live router, and what the rules recorded."""

    def __init__(self, values: Sequence[float], interval: int, rules: Sequence[Rule]) -> None:
        self._counter = Counter(0.0, float(interval))
        self._counter.values.extend(values)
        self._series = {rule.record: Recorded(0.0, float(RULE_SECONDS)) for rule in rules}
        evaluators = [(self._series[rule.record].values, compiled(rule.expr, self)) for rule in rules]
        for tick in range(0, (len(values) - 1) * interval + 1, RULE_SECONDS):
            for recorded, evaluate in evaluators:
                recorded.append(evaluate(float(tick)))

    def counter(self, metric: Metric) -> Counter | None:
        """The router's attempts."""
        return self._counter if metric.name == names.ROUTER_ATTEMPTS else None

    def gauge(self, metric: Metric, aggregation: str) -> Callable[[], Sample] | None:
        """One worker, always."""
        del aggregation
        return (lambda: 1.0) if metric.name == names.ROUTER_WORKERS else None

    def recorded(self, name: str) -> Recorded | None:
        """What a rule recorded."""
        return self._series.get(name)

    def value(self, expr: Expr, seconds: float) -> Sample:
        """The expression's value now; ask at rising moments."""
        return compiled(expr, self)(seconds)
