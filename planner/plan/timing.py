"""How a model starts, sleeps, wakes, drains and survives an outage of its metrics, in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from specs.checks.leaving import SECONDS_PER_TOKEN
from specs.drain import SPOT_NOTICE_SECONDS, grace_seconds, on_spot
from specs.gpus import surge_of
from specs.offered import LONG_WINDOW, most_replicas
from specs.patience import hold_seconds
from specs.scaling import FALLBACK_FAILURES
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import CONTROLLER_SECONDS, Tier, tiers

ENGINE_EXIT_SECONDS = 9.0
"""vLLM exits 6 to 9 s after its last request (measured on 0.32.0)."""
FIRST_SIGHT_SCRAPES = 1.5
"""Mean scrapes until a router's error counter shows a rate: it is absent until first touched, and a rate needs
two samples."""


@dataclass(frozen=True)
class FirstCaller:
    """What the first caller at zero replicas meets. `seconds` from request to first engine; the router holds the
    request for `held_seconds` and answers 503 after that; the balancer cuts it at `cut_seconds` (None: no balancer).
    """

    seconds: float
    held_seconds: float
    cut_seconds: float | None

    @property
    def served(self) -> bool:
        """The request is answered by the engine it woke."""
        limits = [self.held_seconds] + ([self.cut_seconds] if self.cut_seconds is not None else [])
        return self.seconds <= min(limits)

    def as_json(self) -> dict[str, object]:
        """Documented keys of `firstCallerAtZero`."""
        return {
            "outcome": "held" if self.served else "error",
            "waitSeconds": round(self.seconds, 1),
            "heldSeconds": round(self.held_seconds, 1),
            "balancerCutSeconds": self.cut_seconds,
        }


@dataclass(frozen=True)
class Outage:
    """What happens when the metrics fail: replicas are frozen, then the fallback keeps the higher of what runs and
    `fallback_replicas`."""

    fallback_seconds: float
    fallback_replicas: int
    wakes_from_zero: bool
    schedule_acts: bool

    def as_json(self) -> dict[str, object]:
        """Documented keys of `metricsOutage`."""
        return {
            "frozenSeconds": round(self.fallback_seconds, 1),
            "fallbackReplicas": self.fallback_replicas,
            "behavior": "currentReplicasIfHigher",
            "scalesDown": False,
            "wakesFromZero": self.wakes_from_zero,
            "scheduleActs": self.schedule_acts,
        }


@dataclass(frozen=True)
class Leaving:
    """The drain window against the longest request; `notice_seconds` where spot may cut it."""

    window_seconds: float
    longest_request_seconds: float
    grace_seconds: float
    notice_seconds: float | None
    surge_replicas: int
    zero_downtime: bool

    def as_json(self) -> dict[str, object]:
        """Documented keys of `drain`."""
        return {
            "windowSeconds": self.window_seconds,
            "longestRequestSeconds": round(self.longest_request_seconds, 1),
            "longestRequestFits": self.longest_request_seconds <= self.window_seconds,
            "tokensThatFit": int(self.window_seconds / SECONDS_PER_TOKEN),
            "graceSeconds": self.grace_seconds,
            "spotNoticeSeconds": self.notice_seconds,
            "surgeReplicas": self.surge_replicas,
            "zeroDowntimeRollout": self.zero_downtime,
        }


@dataclass(frozen=True)
class Timing:
    """All of a model's seconds."""

    tiers: tuple[Tier, ...]
    current: str
    """The tier a burst meets: warm while spares are kept, else cold."""
    ready_slo: float
    time_to_zero: float | None
    time_to_no_node: float | None
    first_caller: FirstCaller | None
    outage: Outage
    leaving: Leaving

    def tier(self, name: str) -> Tier:
        """The tier of that name. Raises StopIteration for another."""
        return next(tier for tier in self.tiers if tier.name == name)

    @property
    def current_total(self) -> float:
        """Seconds a burst waits in the current tier."""
        return self.tier(self.current).total

    @property
    def meets_slo(self) -> bool:
        """A burst in the current tier is served within `slo.readySeconds`."""
        return self.current_total <= self.ready_slo


def timing(settings: Settings, model: Model) -> Timing:
    """Every span of one model. Its pool must exist."""
    pool = settings.pool(model.pool)
    zero, no_node = _to_zero(settings, model)
    starts = tuple(tiers(settings, model))
    return Timing(
        tiers=starts,
        current="warm" if model.scaling.warm_spares else "cold",
        ready_slo=model.slo.ready_seconds,
        time_to_zero=zero,
        time_to_no_node=no_node,
        first_caller=_first_caller(settings, model, starts) if model.replicas.min == 0 else None,
        outage=_outage(settings, model),
        leaving=Leaving(
            window_seconds=float(model.drain.shutdown_seconds),
            longest_request_seconds=model.max_model_len * SECONDS_PER_TOKEN,
            grace_seconds=float(grace_seconds(model, pool)),
            notice_seconds=float(SPOT_NOTICE_SECONDS) if on_spot(pool) else None,
            surge_replicas=surge_of(settings, model),
            zero_downtime=surge_of(settings, model) > 0 or model.replicas.min >= 2,
        ),
    )


def _to_zero(settings: Settings, model: Model) -> tuple[float | None, float | None]:
    """Seconds from the last request to zero replicas, and to no node; a schedule's floor only lengthens it.

    The offered rate looks back five minutes and is active while anything is left in its window; KEDA then waits the
    cooldown from the last active poll and goes to zero from any count (executor scaleToZeroOrIdle).
    """
    if model.replicas.min > 0:
        return None, None
    scrape = settings.platform.prometheus.scrape_seconds
    window = LONG_WINDOW if model.scaling.strategy == "rate" and model.capacity else scrape
    zero = float(window + model.scaling.cooldown_seconds + model.scaling.polling_seconds)
    leaving = model.drain.pre_stop_seconds + ENGINE_EXIT_SECONDS
    pool = settings.pool(model.pool)
    return zero, zero + leaving + pool.consolidation.after_seconds


def _first_caller(settings: Settings, model: Model, starts: tuple[Tier, ...]) -> FirstCaller:
    """From 0 to 1 KEDA's polling decides, not the HPA's sync."""
    scrape = settings.platform.prometheus.scrape_seconds
    detect = FIRST_SIGHT_SCRAPES * scrape + model.scaling.polling_seconds / 2 + CONTROLLER_SECONDS
    wanted = "warm" if model.scaling.warm_spares else "cold"
    start = next(tier.start for tier in starts if tier.name == wanted)
    cut = float(model.ingress.idle_timeout_seconds) if model.ingress.enabled else None
    return FirstCaller(detect + start, float(hold_seconds(settings, model)), cut)


def _outage(settings: Settings, model: Model) -> Outage:
    """Failures must exceed the threshold before KEDA's fallback acts (keda pkg/fallback); at min 1 and more only
    the HPA's sync asks for metrics. A fallback counts as activity and wakes a model at zero (keda v2.21.0
    pkg/scaling/scale_handler.go, isActiveOrFallback; seen in the lab); before 2.21 it did not (keda issue 7239)."""
    least = min(model.replicas.min, most_replicas(settings, model))
    return Outage(
        fallback_seconds=float((FALLBACK_FAILURES + 1) * settings.cluster.hpa_sync_seconds),
        fallback_replicas=max(1, least),
        wakes_from_zero=model.replicas.min == 0,
        schedule_acts=bool(model.scaling.schedule),
    )
