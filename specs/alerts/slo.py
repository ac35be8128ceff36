"""Burn rates of the two promises: the first token in time, and an answer at all.

Two windows each, as in the Google SRE workbook, chapter 5 (Alerting on SLOs): the long one says that the budget of
30 days really shrinks, the short one that it still does. The long windows average a recorded five-minute rate: a
rate over three days would read every raw sample anew each half minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import metrics_names as names
from specs.alerts.alert import Alert, Severity, both, either
from specs.forecast import RULE_SECONDS, Rule
from specs.offered import LONG_WINDOW, recorded, recorded_over
from specs.promql import Aggregate, Binary, Clamp, Expr, Metric, Number, Rate, Vector, number, or_zero, render
from specs.settings.model import Model

TTFT_OBJECTIVE: Final = 0.95
"""`slo.ttftSeconds` is promised at the 95th percentile."""
ANSWER_OBJECTIVE: Final = 0.999
Windows = tuple[tuple[int, int, float], ...]
FAST: Final[Windows] = ((3600, 300, 14.4), (6 * 3600, 1800, 6.0))
"""Long window, short window, burn rate: 2 % of a month's budget in an hour, 5 % in six hours."""
SLOW: Final[Windows] = ((24 * 3600, 2 * 3600, 3.0), (72 * 3600, 6 * 3600, 1.0))
"""10 % in a day, 10 % in three days."""
LEAST_BAD: Final = 10
"""Bad requests in the long window below which a share says nothing: one of twenty is no outage."""
TTFT_BOUNDS: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
"""Bounds of vLLM 0.33's time_to_first_token_seconds."""


def _summed(name: str, labels: tuple[tuple[str, str], ...]) -> Expr:
    return Aggregate("sum", Rate("rate", Metric(name, labels), LONG_WINDOW))


def in_time(model: Model) -> Expr:
    """First tokens a second within `slo.ttftSeconds`; between two bounds on the straight line that
    histogram_quantile draws too.
    """

    def within(bound: float) -> Expr:
        return _summed(f"{names.TTFT}_bucket", (*names.engine_labels(model), ("le", str(bound))))

    wanted = model.slo.ttft_seconds
    below = max((bound for bound in TTFT_BOUNDS if bound <= wanted), default=0.0)
    above = min((bound for bound in TTFT_BOUNDS if bound >= wanted), default=below)
    if below == above:
        return within(below)
    share = (wanted - below) / (above - below)
    upper = Binary("*", Number(round(share, 6)), within(above))
    if not below:
        return upper
    return Binary("+", Binary("*", Number(round(1 - share, 6)), within(below)), upper)


def records(model: Model) -> Sequence[Rule]:
    """What the burn rates are made of, in requests a second, and the promise in seconds."""
    measured = _summed(f"{names.TTFT}_count", names.engine_labels(model))
    now = recorded(names.TTFT_MEASURED, model)
    given_up = or_zero(_summed(names.ROUTER_GIVEN_UP, names.router_labels(model)))
    broken_off: Expr = given_up
    for reason in names.FAILED_REASONS:
        ended = _summed(names.FINISHED, (*names.engine_labels(model), ("finished_reason", reason)))
        broken_off = Binary("+", broken_off, or_zero(ended))
    answered = or_zero(_summed(names.ROUTER_ANSWERED, names.router_labels(model)))
    return (
        Rule(names.TTFT_MEASURED, measured),
        Rule(names.TTFT_SLOW, Clamp("clamp_min", Binary("-", now, in_time(model)), 0)),
        Rule(names.DECIDED, Binary("+", answered, given_up)),
        Rule(names.FAILED, broken_off),
        Rule(names.TTFT_PROMISED, Vector(model.slo.ttft_seconds)),
    )


def burning(model: Model, bad: str, total: str, budget: float, windows: tuple[int, int, float]) -> str:
    """PromQL: over both windows the share of bad requests exceeds the burn rate times the budget."""
    long, short, rate = windows
    seen = Binary(">=", recorded_over("sum", bad, model, long), Number(round(LEAST_BAD / RULE_SECONDS, 3)))
    limit = Number(round(rate * budget, 6))
    shares = (
        Binary(
            ">",
            Binary("/", recorded_over("avg", bad, model, span), recorded_over("avg", total, model, span)),
            limit,
        )
        for span in (long, short)
    )
    return both(*(render(part) for part in (*shares, seen)))


def alerts(model: Model) -> Sequence[Alert]:
    """Fast burns page, slow ones ask for a look within the day."""
    wanted = number(model.slo.ttft_seconds)
    promises = (
        (
            "Ttft",
            "slo-ttft",
            (names.TTFT_SLOW, names.TTFT_MEASURED, 1 - TTFT_OBJECTIVE),
            f"{model.name}: first tokens come later than {wanted} s",
            f"{{{{ $value | humanizePercentage }}}} of the requests waited longer than {wanted} s in an engine for "
            f"their first token; {1 - TTFT_OBJECTIVE:.0%} may. Time held in the router comes on top.",
        ),
        (
            "Error",
            "slo-errors",
            (names.FAILED, names.DECIDED, 1 - ANSWER_OBJECTIVE),
            f"{model.name}: requests fail",
            f"{{{{ $value | humanizePercentage }}}} of the requests were given up by the router or broken off by an "
            f"engine; {1 - ANSWER_OBJECTIVE:.1%} may.",
        ),
    )
    speeds: tuple[tuple[str, Severity, int, Windows], ...] = (
        ("Fast", "critical", 120, FAST),
        ("Slow", "warning", 900, SLOW),
    )
    found: list[Alert] = []
    for promise, anchor, (bad, total, budget), summary, description in promises:
        for speed, severity, held, windows in speeds:
            expr = either(*(burning(model, bad, total, budget, pair) for pair in windows))
            found.append(
                Alert(
                    f"Headroom{promise}Burn{speed}",
                    expr,
                    held,
                    severity,
                    anchor,
                    summary,
                    description,
                    dict(names.recorded_labels(model)),
                )
            )
    return found
