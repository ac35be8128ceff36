"""The promises: how much of the error budget burns, how fast, and what the alerts say."""

from __future__ import annotations

from specs import metrics_names as names
from specs.alerts.slo import ANSWER_OBJECTIVE, FAST, SLOW, TTFT_OBJECTIVE
from specs.dashboards.dashboard import MODEL, Dashboard, Row, firing
from specs.dashboards.engines import LABEL, LEGEND, quantile
from specs.dashboards.panel import Panel, Query
from specs.promql import DAY_SECONDS, duration, number
from specs.series import where

KEPT_SECONDS = 7 * DAY_SECONDS
"""Within Prometheus' retention of 15 days."""


def share(bad: str, total: str, window: int) -> str:
    """Share of bad requests over `window` seconds, by model."""

    def mean(name: str) -> str:
        return f"max by ({LABEL}) (avg_over_time({where(name, like=MODEL, window=window)}))"

    return f"{mean(bad)} / {mean(total)}"


def _promise(title: str, bad: str, total: str, objective: float, told: str) -> Row:
    budget = number(round(1 - objective, 6))
    windows = sorted({window for long, short, _ in (*FAST, *SLOW) for window in (long, short)})
    shown = [window for window in windows if window in (300, 3600, 6 * 3600, 3 * DAY_SECONDS)]
    rates = sorted({rate for _, _, rate in (*FAST, *SLOW)}, reverse=True)
    return Row(
        title,
        (
            Panel(
                f"{title}: budget left of {duration(KEPT_SECONDS)}",
                f"{told} {objective:.4g} of the requests are promised; 0 is a spent budget.",
                "percentunit",
                (Query(f"clamp_min(1 - ({share(bad, total, KEPT_SECONDS)}) / {budget}, 0)", LEGEND),),
                width=8,
                most=1,
            ),
            Panel(
                f"{title}: burn rate",
                "1 spends the budget of 30 days in 30 days. The dashed lines are the alerts' rates, each over its own "
                "two windows.",
                "short",
                (
                    *(
                        Query(f"({share(bad, total, window)}) / {budget}", f"{LEGEND} {duration(window)}")
                        for window in shown
                    ),
                    *(
                        Query(f"vector({number(rate)})", f"alert {number(rate)}", limit=True)
                        for rate in rates
                    ),
                ),
                width=16,
            ),
        ),
    )


def dashboard() -> Dashboard:
    """What a reader outside the team looks at."""
    now = Row(
        "Now",
        (
            Panel(
                "p95 of the time to first token",
                "Dashed: slo.ttftSeconds.",
                "s",
                (
                    Query(quantile(TTFT_OBJECTIVE, names.TTFT), LEGEND),
                    Query(
                        f"max by ({LABEL}) ({where(names.TTFT_PROMISED, like=MODEL)})",
                        f"{LEGEND} promised",
                        limit=True,
                    ),
                ),
            ),
            Panel(
                "Alerts that fire",
                "Count by name, all severities.",
                "none",
                (Query(f"count by (alertname, severity) ({firing()})", "{{severity}} {{alertname}}"),),
                stacked=True,
            ),
        ),
    )
    volume = Row(
        "Volume",
        (
            Panel(
                "Requests decided",
                "Answered or given up.",
                "reqps",
                (Query(f"max by ({LABEL}) ({where(names.DECIDED, like=MODEL)})", LEGEND),),
            ),
            Panel(
                "Bad requests",
                "Slow to the first token, and failed.",
                "reqps",
                (
                    Query(f"max by ({LABEL}) ({where(names.TTFT_SLOW, like=MODEL)})", f"{LEGEND} slow"),
                    Query(f"max by ({LABEL}) ({where(names.FAILED, like=MODEL)})", f"{LEGEND} failed"),
                ),
            ),
        ),
    )
    return Dashboard(
        "slo",
        "Headroom / SLO",
        "Error budgets of the first token and of the answer.",
        (
            now,
            _promise(
                "First token in time",
                names.TTFT_SLOW,
                names.TTFT_MEASURED,
                TTFT_OBJECTIVE,
                "Within slo.ttftSeconds in the engine.",
            ),
            _promise(
                "Answered", names.FAILED, names.DECIDED, ANSWER_OBJECTIVE, "Not given up and not broken off."
            ),
            volume,
        ),
    )
