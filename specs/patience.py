"""How long to wait for a replica before giving up: probes, held requests, rollouts."""

from __future__ import annotations

import math
from typing import Final

from specs.drain import grace_seconds
from specs.offered import most_replicas
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import ENGINE_COLD_SECONDS, tiers, weights_seconds

PROBE_SECONDS: Final = 2
LEAST_PROBES: Final = 300
"""Ten minutes for what the estimate does not see: a first compile, a slow disk, a throttled download."""
SAFETY: Final = 3.0
TYPICAL_GIB: Final = 15.0
"""Weights of the 8B model in bf16 that `specs.stages` gives its engine seconds for."""
HOLD_SAFETY: Final = 1.5
SCARCITY_SECONDS: Final = 600
"""Allowance for capacity that is not to be had at once: Karpenter tries the next type or zone."""


def load_seconds(settings: Settings, model: Model) -> float:
    """Estimate from container start to ready: weights, then an engine whose compile and warm-up grow with them."""
    engine = ENGINE_COLD_SECONDS * max(1.0, model.weights_gi_b / TYPICAL_GIB)
    return weights_seconds(settings, model, settings.pool(model.pool)) + engine


def startup_probes(settings: Settings, model: Model) -> int:
    """failureThreshold of the startup probe, one probe every 2 s: ten minutes and three times the estimate."""
    return LEAST_PROBES + math.ceil(SAFETY * load_seconds(settings, model) / PROBE_SECONDS)


def cold_seconds(settings: Settings, model: Model) -> int:
    """Longest wait for a replica from nothing: node and image of the cold tier, and the startup probe's budget."""
    cold = tiers(settings, model)[0]
    return math.ceil(cold.node + cold.image) + PROBE_SECONDS * startup_probes(settings, model)


def hold_seconds(settings: Settings, model: Model) -> int:
    """How long the router holds a request while no engine is there: half again the cold start."""
    cold = tiers(settings, model)[0]
    return math.ceil(HOLD_SAFETY * (cold.total + model.scaling.polling_seconds))


def progress_seconds(settings: Settings, model: Model) -> int:
    """progressDeadlineSeconds of the engine Deployment; each replica that gets ready starts it anew."""
    leaving = grace_seconds(model, settings.pool(model.pool))
    return cold_seconds(settings, model) + leaving + SCARCITY_SECONDS


def rollout_seconds(settings: Settings, model: Model) -> int:
    """How long an update of the Deployment may take: replicas are replaced one after the other, each with a
    cold start and a drain."""
    leaving = grace_seconds(model, settings.pool(model.pool))
    cold = math.ceil(tiers(settings, model)[0].start * HOLD_SAFETY)
    return progress_seconds(settings, model) + most_replicas(settings, model) * (cold + leaving)


def delete_seconds(settings: Settings, model: Model) -> int:
    """How long the removal of the Deployment may take: every replica drains at the same time."""
    return grace_seconds(model, settings.pool(model.pool)) + SCARCITY_SECONDS
