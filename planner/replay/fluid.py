"""The fleet as a fluid: one number for what is in the engines, exact enough for scaling, fast enough for weeks.

A replica with a batch of r serves r / (A + B r) requests a second (planner.engine): A is the memory-bound step
per request, B the load-proportional part. What exceeds the batch limit waits. Violations are judged by the
calibrated rate, which an engine exceeds at longer waits only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.engine import Curve
from planner.replay.fleet import Pod


class FluidServer:
    """What all replicas hold together, and how long the callers wait."""

    def __init__(
        self,
        curve: Curve,
        planned_rate: float,
        slo_seconds: float,
        kv_tokens: float,
        cumulative: Sequence[float],
    ) -> None:
        """`planned_rate` is what a replica serves within its SLO; `cumulative[i]` are the arrivals before second i."""
        self._curve = curve
        self._kv_share = curve.context / kv_tokens
        self._cumulative = cumulative
        self._last = len(cumulative) - 1
        self._arrived = 0.0
        self._now = 0.0
        self._planned = planned_rate
        self._calm = curve.running(planned_rate)
        self._slo = slo_seconds
        self._ready = 0
        self.inside = 0.0
        """Requests running or waiting."""
        self.violation_seconds = 0.0
        self.held = 0.0
        """Requests the router holds while no replica is ready."""

    @property
    def ready(self) -> int:
        """Replicas that take requests."""
        return self._ready

    @property
    def violation_so_far(self) -> float:
        """Violation seconds up to now."""
        return self.violation_seconds

    @property
    def waiting(self) -> float:
        """Requests beyond the batches of the ready replicas."""
        return max(0.0, self.inside - self._ready * self._curve.batch) if self._ready else 0.0

    @property
    def running(self) -> float:
        """Requests in the batches."""
        return min(self.inside, self._ready * self._curve.batch)

    def on_ready(self, pod: Pod, moment: float) -> None:
        """A replica begins to serve; what the router held goes to it."""
        del pod, moment
        self._ready += 1
        self.inside += self.held
        self.held = 0.0

    def on_leave(self, pod: Pod, moment: float) -> float:
        """A replica stops getting requests and finishes its own, which take about one residence time."""
        del pod, moment
        batch = min(self._curve.batch, self.inside / self._ready)
        self._ready -= 1
        self.inside = max(0.0, self.inside - batch)
        if not self._ready:
            self.held, self.inside = self.inside, 0.0
        return self._curve.residence(batch)

    @property
    def kv_usage(self) -> float:
        """Mean KV-cache usage."""
        return min(1.0, self.running / self._ready * self._kv_share) if self._ready else 0.0

    @property
    def gpu_utilisation(self) -> float:
        """Percent of time with at least one request running, for arrivals at random (DCGM counts any kernel)."""
        return 100.0 * (1.0 - math.exp(-self.running / self._ready)) if self._ready else 0.0

    def processed(self) -> float:
        """Requests sent to engines."""
        return self._arrived - self.held

    def advance_to(self, moment: float) -> None:
        """Time passes up to `moment`."""
        seconds = moment - self._now
        if seconds <= 0.0:
            return
        self._now = moment
        second = min(int(moment), self._last)
        following, share = min(second + 1, self._last), moment - second
        arrived = self._cumulative[second]
        arrived += share * (self._cumulative[following] - arrived)
        came, self._arrived = arrived - self._arrived, arrived
        self._advance(seconds, came / seconds)

    def _advance(self, seconds: float, rate: float) -> None:
        ready = self._ready
        if not ready:
            self.held += rate * seconds
            if self.held > 0.0:
                self.violation_seconds += seconds
            return
        curve = self._curve
        batch, capacity = curve.batch, curve.capacity
        each, arriving = self.inside / ready, rate / ready
        total = each + arriving * seconds
        after = total - capacity * seconds
        if after < batch:
            # Implicit step of dr/dt = arriving - r/(A + B r): stable however short the requests are.
            linear = curve.fixed + seconds - total * curve.shared
            root = math.sqrt(linear * linear + 4.0 * curve.shared * total * curve.fixed)
            after = min(2.0 * total * curve.fixed / (linear + root), batch)
        self._judge(seconds, each, after)
        self.inside = after * ready

    def _judge(self, seconds: float, before: float, after: float) -> None:
        """Estimated wait: requests in an engine beyond those it holds at its planned rate, over that rate.

        The engine is calibrated so that the p95 wait is the SLO at the planned rate. Linear within the step.
        """
        allowed = self._calm + self._slo * self._planned
        if before <= allowed and after <= allowed:
            return
        if before > allowed and after > allowed:
            self.violation_seconds += seconds
        else:
            self.violation_seconds += seconds * (max(before, after) - allowed) / abs(after - before)
