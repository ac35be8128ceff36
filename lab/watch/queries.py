"""All figures of all models as one query, so that one request shows one moment."""

from collections.abc import Sequence

from specs import metrics_names as names
from specs.offered import SHORT_WINDOW, attempts, held, offered, recorded, short_window, target_rate, waiting
from specs.promql import Aggregate, Binary, Metric, Number, duration, render
from specs.settings.model import Model
from specs.settings.stack import Settings

LABEL = "watched"
TTFT_QUANTILE = 0.95


def of_model(settings: Settings, model: Model) -> dict[str, str]:
    """PromQL by the figure's name; each gives at most one element without labels.

    Demand is the trigger's own query and not the recorded series, which lags by the rules' interval.
    """
    window = short_window(settings, SHORT_WINDOW)
    engine = names.engine_labels(model)
    found = {
        "rate": render(attempts(model, window)),
        "held": render(held(settings, model)),
        "waiting": render(waiting(model)),
        "running": render(Aggregate("sum", Metric(names.RUNNING, engine))),
        "ttft_p95": _quantile(model, window),
    }
    if model.capacity is not None:
        target = Number(target_rate(model))
        found["demand"] = render(Binary("/", offered(settings, model), target))
        found["forecast"] = render(Binary("/", recorded(names.FORECAST, model), target))
    return found


def _quantile(model: Model, window: int) -> str:
    matchers = ",".join(f'{label}="{value}"' for label, value in names.engine_labels(model))
    buckets = f"rate({names.TTFT}_bucket{{{matchers}}}[{duration(window)}])"
    return f"histogram_quantile({TTFT_QUANTILE}, sum by (le) ({buckets}))"


def query(settings: Settings, models: Sequence[Model]) -> str:
    """One expression for all; each element bears its model and figure in the label ``watched``."""
    return " or ".join(
        f'label_replace({expression}, "{LABEL}", "{model.name}/{figure}", "", "")'
        for model in models
        for figure, expression in of_model(settings, model).items()
    )
