"""What KEDA 2.21 makes of a trigger: a proposal through its metrics adapter, and activity between 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.replay.hpa import proposal
from planner.replay.series import Sample
from specs.scaling import FALLBACK_FAILURES
from specs.triggers import CronTrigger, QueryTrigger


@dataclass
class Scaler:
    """A query trigger and its failures in a row."""

    trigger: QueryTrigger
    failures: int = 0

    def proposal(self, value: Sample, replicas: int, ready: int, fallback: int | None) -> int | None:
        """Replicas that the trigger asks for; None when its metric fails. No value, NaN and infinity are failures,
        as `ignoreNullValues` is off (pkg/scalers/prometheus_scaler.go).

        From the fourth failure in a row `fallback` acts as `currentReplicasIfHigher` does: what runs, or the
        fallback where that is more (pkg/fallback/fallback.go). Without one the metric goes on failing.
        """
        if value is None or not math.isfinite(value):
            self.failures += 1
            if fallback is None or self.failures <= FALLBACK_FAILURES:
                return None
            return max(replicas, fallback)
        self.failures = 0
        return proposal(value, self.trigger.threshold, self.trigger.metric_type, replicas, ready)

    def active(self, value: Sample) -> bool:
        """Whether the trigger alone keeps a model above 0: more than its activation, which by itself is too little."""
        return value is not None and value > self.trigger.activation


def scheduled(trigger: CronTrigger, is_open: bool, replicas: int, ready: int) -> int:
    """Replicas that a cron trigger asks for: its own inside the window, 1 outside (pkg/scalers/cron_scaler.go)."""
    return proposal(trigger.replicas if is_open else 1, 1.0, "AverageValue", replicas, ready)
