"""How long a replica needs to leave, and how long a spot notice lets it."""

from __future__ import annotations

from specs.settings.model import Model
from specs.settings.stack import GpuPool

# vLLM exits 6 to 9 s after its last request (measured on 0.32.0); grace must exceed preStop + drain + 10 s.
LEAST_MARGIN_SECONDS = 11
MARGIN_SECONDS = 15
# EC2 gives about 120 s from notice to power-off; 10 s of it pass before the kubelet acts
# (karpenter-provider-aws issues 7419, 8160).
SPOT_NOTICE_SECONDS = 110


def on_spot(pool: GpuPool) -> bool:
    """The pool may launch spot nodes."""
    return "spot" in pool.capacity_types


def drain_seconds(model: Model) -> int:
    """preStop wait and the longest request after it."""
    return model.drain.pre_stop_seconds + model.drain.shutdown_seconds


def grace_seconds(model: Model, pool: GpuPool) -> int:
    """terminationGracePeriodSeconds of a replica; on spot the margin shrinks so that all fits the notice."""
    grace = drain_seconds(model) + MARGIN_SECONDS
    if on_spot(pool):
        return max(drain_seconds(model) + LEAST_MARGIN_SECONDS, min(grace, SPOT_NOTICE_SECONDS))
    return grace
