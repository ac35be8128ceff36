"""Alerts of a model's forecast: that it is there, and that acting on it is worth what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import metrics_names as names
from specs.alerts.alert import Alert, both
from specs.forecast import Rule, acted_loss
from specs.offered import recorded, recorded_over, target_rate
from specs.promql import Binary, Expr, Number, render
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import horizon_seconds

JUDGED_SECONDS: Final = 6 * 3600
WORSE: Final = 1.2
"""Ratio of the losses from which the forecast counts as harmful; noise alone makes a few per cent."""
LEAST_SHARE: Final = 0.5
"""Share of one replica's target by which it must be worse: less is no replica."""


def _forecasts(model: Model) -> bool:
    return model.capacity is not None and model.scaling.forecast.enabled


def records(settings: Settings, model: Model) -> Sequence[Rule]:
    """The published forecast's own loss; each candidate's is recorded beside the candidate."""
    if not _forecasts(model):
        return ()
    lead = int(horizon_seconds(settings, model))
    now = recorded(names.OFFERED_NOW, model)
    return (Rule(names.LOSS_FORECAST, acted_loss(model, names.FORECAST, lead, now)),)


def alerts(model: Model) -> Sequence[Alert]:
    """None for a model without a forecast."""
    if not _forecasts(model):
        return ()
    labels = dict(names.recorded_labels(model))
    now, ahead = recorded(names.OFFERED_NOW, model), recorded(names.FORECAST, model)
    acting = recorded_over("avg", names.LOSS_FORECAST, model, JUDGED_SECONDS)
    waiting = recorded_over("avg", names.LOSS_LAST, model, JUDGED_SECONDS)
    least = LEAST_SHARE * target_rate(model)
    worse: tuple[Expr, ...] = (
        Binary(">", Binary("-", acting, waiting), Number(round(least, 6))),
        Binary(">", acting, Binary("*", Number(WORSE), waiting)),
    )
    return (
        Alert(
            "HeadroomForecastMissing",
            f"{render(now)} unless {render(ahead)}",
            900,
            "warning",
            "forecast-missing",
            f"{model.name}: there is no forecast",
            "The offered load is recorded and its forecast is not, so replicas follow the load instead of preceding "
            "it: a rule fails, or the rules are of an older version.",
            labels,
        ),
        Alert(
            "HeadroomForecastHarmful",
            both(*(render(part) for part in worse)),
            1800,
            "warning",
            "forecast-harmful",
            f"{model.name}: the forecast does harm",
            "For six hours acting on it cost {{ $value | humanize }} requests a second more than not acting would "
            "have; a request too many to serve counts twenty times a replica's share held in vain.",
            labels,
        ),
    )
