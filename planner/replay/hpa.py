"""The HPA controller's arithmetic (Kubernetes 1.35 pkg/controller/podautoscaler), for external metrics.

Per metric a proposal with a tolerance, the largest of them, stabilisation, then the rate policies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 0.1
"""--horizontal-pod-autoscaler-tolerance; EKS does not expose it."""
_MILLI = 1000


@dataclass(frozen=True)
class Limits:
    """One direction of `behavior`: pods and percent per period (0: no such policy), and its window."""

    pods: int
    percent: int
    period_seconds: float
    window_seconds: float


@dataclass(frozen=True)
class Behavior:
    """Both directions and the range of replicas."""

    least: int
    most: int
    up: Limits
    down: Limits


# Behaviour of an HPA that states none (autoscaling/v2 defaults).
DEFAULT_UP = Limits(pods=4, percent=100, period_seconds=15, window_seconds=0)
DEFAULT_DOWN = Limits(pods=0, percent=100, period_seconds=15, window_seconds=300)


def proposal(usage: float, target: float, kind: str, replicas: int, ready: int) -> int:
    """Replicas that one external metric asks for.

    AverageValue compares the total with target x replicas, Value the level with the target and scales the ready
    replicas. Inside the tolerance the current count stays. Both are rounded to thousandths, and what is below 0 is 0
    (KEDA 2.21 pkg/scalers/scaler.go, quantityFromFloat64).
    """
    value, goal = round(usage * _MILLI) if usage > 0 else 0, round(target * _MILLI)
    if kind == "AverageValue":
        ratio = value / (goal * replicas) if replicas else math.inf
        if 1.0 - TOLERANCE <= ratio <= 1.0 + TOLERANCE:
            return replicas
        return math.ceil(value / goal)
    ratio = value / goal
    if 1.0 - TOLERANCE <= ratio <= 1.0 + TOLERANCE:
        return replicas
    return math.ceil(ratio * ready)


class Autoscaler:
    """One HPA object's memory: past recommendations and rescale events."""

    def __init__(self, behavior: Behavior) -> None:
        self.behavior = behavior
        self._recommendations: list[tuple[float, int]] = []
        self._added: list[tuple[float, int]] = []
        self._removed: list[tuple[float, int]] = []

    def reset(self) -> None:
        """The HPA was switched off by replicas 0; its memory of recommendations ages out meanwhile."""
        self._recommendations.clear()

    def desired(self, moment: float, current: int, proposals: Sequence[int | None]) -> int:
        """Replicas after this sync. A None proposal is a metric that failed: it blocks scaling down only."""
        valid = [found for found in proposals if found is not None]
        wanted = max(valid) if valid else current
        if len(valid) < len(proposals) and wanted < current:
            wanted = current
        if not self._recommendations:
            self._recommendations.append((moment, current))
        stabilised = self._stabilise(moment, current, wanted)
        final = self._limit(moment, current, stabilised)
        if final > current:
            self._added.append((moment, final - current))
        elif final < current:
            self._removed.append((moment, current - final))
        return final

    def _stabilise(self, moment: float, current: int, wanted: int) -> int:
        up_from = moment - self.behavior.up.window_seconds
        down_from = moment - self.behavior.down.window_seconds
        oldest = min(up_from, down_from)
        kept = self._recommendations
        while kept and kept[0][0] <= oldest:
            del kept[0]
        lowest = highest = wanted
        for when, count in kept:
            if when > up_from and count < lowest:
                lowest = count
            if when > down_from and count > highest:
                highest = count
        kept.append((moment, wanted))
        return min(max(current, lowest), highest)

    def _limit(self, moment: float, current: int, wanted: int) -> int:
        behavior = self.behavior
        # KEDA gives the HPA of a model that may sleep a minimum of 1: the step to 0 is its own, after the cooldown.
        least = max(1, behavior.least)
        if wanted > current:
            start = self._period_start(moment, current, behavior.up.period_seconds)
            allowed = max(
                start + behavior.up.pods,
                math.ceil(start * (1 + behavior.up.percent / 100)),
            )
            return max(least, min(wanted, max(allowed, current), behavior.most))
        if wanted < current:
            start = self._period_start(moment, current, behavior.down.period_seconds)
            by_pods = start - behavior.down.pods if behavior.down.pods else start
            by_percent = (
                math.floor(start * (1 - behavior.down.percent / 100)) if behavior.down.percent else start
            )
            floor = min(by_pods, by_percent, current)
            return min(behavior.most, max(wanted, floor, least))
        return min(behavior.most, max(wanted, least))

    def _period_start(self, moment: float, current: int, period: float) -> int:
        return current - _within(self._added, moment - period) + _within(self._removed, moment - period)


def _within(events: list[tuple[float, int]], since: float) -> int:
    while events and events[0][0] <= since - 3600:
        del events[0]
    return sum(count for when, count in reversed(events) if when > since)
