"""What a run came to: how long the burst took, beside what the configuration predicts, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.watch.events import Event
from lab.watch.figures import Sample
from lab.watch.history import History, series
from lab.watch.phases import burst_start
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import CONTROLLER_SECONDS, Tier, detect_seconds, tiers

READY_GOAL = 1.15
"""Burst to N ready over its prediction."""
CLAIMS_GOAL = 1.25
"""Burst to the last NodeClaim over its prediction."""
_BATCH_SECONDS = 1.0
"""Karpenter's batch idle time: a NodeClaim is made so long after the last pending pod."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One figure of the burst in seconds from its begin. ``goal`` bounds measured over predicted."""

    label: str
    measured: float | None
    predicted: float | None = None
    goal: float | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over predicted."""
        return self.measured / self.predicted if self.measured is not None and self.predicted else None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A run in figures. ``reached`` is the most replicas that were desired in the burst."""

    model: str
    burst_at: float | None
    before: int
    reached: int
    timings: tuple[Timing, ...]
    most_nodes: int
    gpu_hours: float
    usd: float
    tier: Tier | None
    factor: float

    def timing(self, label: str) -> Timing | None:
        """The figure of that label."""
        return next((one for one in self.timings if one.label == label), None)


DECIDED, CLAIMED, READY = "desired", "claims", "ready"


def outcome(
    samples: Sequence[Sample],
    events: Sequence[Event],
    model: str,
    settings: Settings | None = None,
    factor: float = 1.0,
) -> Outcome:
    """The figures of a run of at least one sample. ``factor`` is the one on the start-up seconds of the lab."""
    added = History()
    for sample in samples:
        added.add(sample)
    moments = [sample.at for sample in samples]
    start = burst_start(samples, events, model)
    desired, ready = series(samples, model, "desired"), series(samples, model, "ready")
    reached = int(max((value for value in desired if value is not None), default=0))
    before = 0
    found: tuple[Timing, ...] = ()
    tier = _tier(settings, model)
    if start is not None:
        earlier = [
            value for at, value in zip(moments, desired, strict=True) if at <= start and value is not None
        ]
        before = int(earlier[-1]) if earlier else 0
        decided = _reach(moments, desired, reached, start)
        served = _reach(moments, ready, reached, start)
        claimed = _last_claim(samples, start, served)
        found = _timings(settings, tier, factor, start, decided, claimed, served)
    return Outcome(
        model=model,
        burst_at=start,
        before=before,
        reached=reached,
        timings=found,
        most_nodes=max((len(sample.nodes) for sample in samples if sample.nodes is not None), default=0),
        gpu_hours=added.gpu_hours,
        usd=added.usd,
        tier=tier,
        factor=factor,
    )


def named(settings: Settings | None, name: str) -> Model | None:
    """The model by its own name or by the one that callers use."""
    models = settings.active_models if settings else ()
    return next((model for model in models if name in (model.name, model.api_name)), None)


def _tier(settings: Settings | None, name: str) -> Tier | None:
    """The start of a replica in the burst: the stack's current one, which waits for nothing that is warm."""
    model = named(settings, name)
    if settings is None or model is None:
        return None
    cold, _, warm, _ = tiers(settings, model)
    return warm if model.scaling.warm_spares else cold


def _reach(moments: Sequence[float], values: Sequence[float | None], goal: int, start: float) -> float | None:
    return next(
        (at for at, value in zip(moments, values, strict=True) if at >= start and (value or 0) >= goal), None
    )


def _last_claim(samples: Sequence[Sample], start: float, end: float | None) -> float | None:
    """The creation of the last NodeClaim of the burst. Its clock counts whole seconds."""
    moments = {
        node.name: node.created
        for sample in samples
        for node in sample.nodes or ()
        if node.created is not None and start - 1 <= node.created and (end is None or node.created <= end)
    }
    return max(moments.values(), default=None)


def _timings(
    settings: Settings | None,
    tier: Tier | None,
    factor: float,
    start: float,
    decided: float | None,
    claimed: float | None,
    served: float | None,
) -> tuple[Timing, ...]:
    def since(moment: float | None) -> float | None:
        return None if moment is None else max(0.0, moment - start)

    detect = None if settings is None else detect_seconds(settings)
    return (
        Timing(label=DECIDED, measured=since(decided), predicted=detect),
        Timing(
            label=CLAIMED,
            measured=since(claimed),
            predicted=None if detect is None else detect - CONTROLLER_SECONDS + _BATCH_SECONDS,
            goal=CLAIMS_GOAL,
        ),
        Timing(
            label=READY,
            measured=since(served),
            predicted=None if detect is None or tier is None else detect + tier.start * factor,
            goal=READY_GOAL,
        ),
    )
