"""What callers ask for, as PromQL: the direct queries behind the triggers and the rules.

Demand is the offered request rate against the calibrated capacity of one replica. Direct queries are read by
KEDA at each HPA sync, so they see the newest scrape; the recorded series follow slowly and feed the forecast.
"""

from __future__ import annotations

from specs import metrics_names as names
from specs.promql import (
    Aggregate,
    Binary,
    Call,
    Expr,
    Largest,
    Metric,
    Number,
    OverTime,
    RangeFunction,
    Rate,
    or_zero,
)
from specs.settings.model import Model
from specs.settings.stack import Settings

LONG_WINDOW = 300
MID_WINDOW = 60
SHORT_WINDOW = 30
MID_NOISE = 1.0
SHORT_NOISE = 2.0
"""Standard deviations of a Poisson count that a short window must exceed before it raises the demand."""
CONCURRENCY_SHARE = 0.6
CONCURRENCY_PROMPT_WEIGHT = 3.65
"""Output tokens that cost a batch as much as one prompt token's share of its load-proportional time; puts a
chat mix (1155/211) at 62 % of the batch limit for 80 % of capacity."""


def target_rate(model: Model) -> float:
    """Requests a second that one replica is planned for: capacity x utilization.

    Raises ValueError when the model states no capacity.
    """
    if model.capacity is None:
        raise ValueError(f"{model.name} states no capacity")
    return model.capacity.requests_per_second * model.scaling.utilization


def target_concurrency(model: Model) -> float:
    """Requests in flight per replica at `utilization` of its capacity.

    The batch grows faster than the load: at share u of capacity it holds u(1-z)/(1-uz) of the limit; z is the
    load-proportional share of the engine's time at capacity (prefill and per-sequence work).
    """
    mix = model.capacity
    z = CONCURRENCY_SHARE
    if mix is not None:
        z = mix.prompt_tokens / (mix.prompt_tokens + CONCURRENCY_PROMPT_WEIGHT * mix.output_tokens)
    share = model.scaling.utilization
    return max(1.0, model.max_num_seqs * share * (1 - z) / (1 - share * z))


def most_replicas(settings: Settings, model: Model) -> int:
    """Replicas that max and the GPU budget both allow."""
    pool = settings.pool(model.pool)
    gpus = min(settings.gpu_budget.max_gpus, pool.gpu_limit)
    return max(1, min(model.replicas.max, gpus // model.gpus_per_replica))


def short_window(settings: Settings, wanted: int) -> int:
    """`wanted` seconds, or six scrapes where scrapes are rare: a rate needs at least two samples."""
    return max(wanted, 6 * settings.platform.prometheus.scrape_seconds)


def _rate(model: Model, window: int) -> Expr:
    return Aggregate("sum", Rate("rate", Metric(names.ROUTER_ATTEMPTS, names.router_labels(model)), window))


def _alive(model: Model, expr: Expr) -> Expr:
    """`expr`, or 0 as long as a router is alive. Its counters appear only when first touched, its worker gauge
    exists from the first scrape: an empty result still means that nothing is scraped.
    """
    workers = Aggregate("sum", Metric(names.ROUTER_WORKERS, names.router_labels(model)))
    return Binary("or", expr, Binary("*", workers, Number(0)))


def attempts(model: Model, window: int) -> Expr:
    """Requests a second sent to workers over `window` seconds."""
    return _alive(model, _rate(model, window))


def _surely(rate: Expr, window: int, deviations: float) -> Expr:
    """`rate` less its counting noise: x - k sqrt(x / window)."""
    noise = Call("sqrt", Binary("/", rate, Number(window)))
    return Binary("-", rate, Binary("*", Number(deviations), noise))


def offered(settings: Settings, model: Model) -> Expr:
    """Offered requests a second now: the five-minute rate, raised by shorter windows only where they exceed
    it by more than counting noise. A burst shows within two scrapes, constant load does not flap.
    """
    middle, short = short_window(settings, MID_WINDOW), short_window(settings, SHORT_WINDOW)
    windows = (
        _rate(model, LONG_WINDOW),
        _surely(_rate(model, middle), middle, MID_NOISE),
        _surely(_rate(model, short), short, SHORT_NOISE),
    )
    return _alive(model, Largest(windows))


def held(settings: Settings, model: Model) -> Expr:
    """Requests the router holds for want of a worker: each is tried about once a second."""
    labels = (*names.router_labels(model), ("error_type", names.NO_WORKERS))
    window = short_window(settings, SHORT_WINDOW)
    return or_zero(Aggregate("sum", Rate("rate", Metric(names.ROUTER_ERRORS, labels), window)))


def waiting(model: Model) -> Expr:
    """Requests waiting in the engines."""
    return _alive_or_zero(model, Aggregate("sum", Metric(names.WAITING, names.engine_labels(model))))


def in_flight(model: Model) -> Expr:
    """Requests running or waiting in the engines."""
    labels = names.engine_labels(model)
    total = Binary(
        "+",
        Aggregate("sum", Metric(names.RUNNING, labels)),
        Aggregate("sum", Metric(names.WAITING, labels)),
    )
    return _alive_or_zero(model, total)


def kv_usage(model: Model) -> Expr:
    """Mean KV-cache usage of the engines, 0 to 1."""
    labels = names.engine_labels(model)
    first, *older = names.kv_usage_names(model.image)
    usage: Expr = Metric(first, labels)
    for name in older:
        usage = Binary("or", usage, Metric(name, labels))
    return _alive_or_zero(model, Aggregate("avg", usage))


def _alive_or_zero(model: Model, expr: Expr) -> Expr:
    # At zero replicas the engines' series are rightly absent; above zero an empty result is a fault that the
    # fallback must see (keda issue 3065).
    return or_zero(expr) if model.replicas.min == 0 else expr


def recorded(name: str, model: Model, offset_seconds: int = 0) -> Expr:
    """A recorded series without labels; `max` survives a highly available pair of Prometheus servers."""
    return Aggregate("max", Metric(name, names.recorded_labels(model), offset_seconds))


def recorded_over(
    function: RangeFunction,
    name: str,
    model: Model,
    window: int,
    quantile: float = 0.5,
    offset_seconds: int = 0,
) -> Expr:
    """`<function>_over_time` of a recorded series without labels."""
    metric = Metric(name, names.recorded_labels(model), offset_seconds)
    return Aggregate("max", OverTime(function, metric, window, quantile))
