"""The forecast of the `quantile-forecast` baseline, which knows the hour of day and no gate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planner.arrivals import Arrivals

FORECAST_QUANTILE = 0.95


def hour_quantiles(load: Arrivals, lead: float) -> Callable[[float], float | None]:
    """For each moment the upper quantile of the minutes seen so far in the hour of day one lead time ahead."""
    minutes = load.duration // 60
    rates = load.per_second[: minutes * 60].reshape(minutes, 60).sum(axis=1) / 60.0
    known: dict[int, float | None] = {}

    def hourly(moment: float) -> float | None:
        hour = int((moment + lead) // 3600)
        if hour not in known:
            past = [rates[start * 60 : start * 60 + 60] for start in range(hour - 24, -1, -24)]
            past = [part for part in past if len(part)]
            known[hour] = float(np.quantile(np.concatenate(past), FORECAST_QUANTILE)) if past else None
        return known[hour]

    return hourly
