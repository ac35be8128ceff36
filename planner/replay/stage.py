"""What all policies on one trace share, and one policy's run on it."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.arrivals import arrivals
from planner.calibrated import engine_model
from planner.engine import planning_curve, request_size
from planner.replay import bound
from planner.replay.clock import Clock
from planner.replay.errors import ReplayError
from planner.replay.fleet import Fleet, Timing
from planner.replay.fluid import FluidServer
from planner.replay.hour_quantiles import hour_quantiles
from planner.replay.loop import Loop
from planner.replay.policy import Policy
from planner.replay.requests import RequestServer
from planner.replay.result import ReplayResult
from planner.traces import Trace
from specs.fit import fitting_types
from specs.forecast import RULE_SECONDS
from specs.offered import target_rate
from specs.problems import Problem
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import lead_seconds, tiers

Mode = Literal["request", "fluid"]
MOST_REPLICAS = 5000
"""The bound looks at each level of the demand by itself."""
HISTORY_SECONDS = 900
"""The stack has been running this long at the first rate when the trace begins."""
FIRST_SECONDS = 300
SCAN_SECONDS = 10.0
UNNEEDED_SECONDS = 600.0
"""Cluster Autoscaler's defaults: --scan-interval and --scale-down-unneeded-time."""


@dataclass(frozen=True)
class Conditions:
    """What happens around the loop: Prometheus outages as (start, end) seconds, and how often spot takes a node."""

    outages: Sequence[tuple[float, float]] = ()
    spot_reclaims_per_hour: float = 0.0


class Stage:
    """What all policies on one trace share. Raises ReplayError for a trace beyond any fleet."""

    def __init__(
        self, settings: Settings, model: Model, trace: Trace, scale: float, seed: int, mode: Mode
    ) -> None:
        self.settings, self.model, self.trace, self.seed, self.mode = settings, model, trace, seed, mode
        self.load = arrivals(trace, scale, seed)
        self.curve = planning_curve(settings, model)
        self.steady = bound.steady_rate(self.load)
        levels = bound.needed(self.steady, self.curve.capacity)
        self.peak = int(levels.max()) if len(levels) else 0
        if self.peak > MOST_REPLICAS:
            given = f"a peak of {self.peak:,} replicas of {model.name}"
            raise ReplayError([Problem("--trace", given, f"at most {MOST_REPLICAS:,}", "lower --scale")])
        self.lead = lead_seconds(settings, model)
        self.bound = bound.node_seconds(levels, self.lead)
        pool = settings.pool(model.pool)
        types = fitting_types(model, pool)
        # Karpenter launches the cheapest type that fits; spot prices are no data of ours, so on-demand is said.
        self.price = min((entry.usd_per_hour for entry in types), default=0.0)

    def clairvoyant(self, cpu_seconds: float) -> ReplayResult:
        """The bound itself, as a policy that knows the future."""
        return self._result("clairvoyant", self.bound, 0.0, self.peak, cpu_seconds)

    def replay(self, wanted: Policy, conditions: Conditions, began: float) -> ReplayResult:
        """Run the loop."""
        model, load = self.model, self.load
        source = np.random.default_rng([self.seed, 3])
        first = float(load.rate[:FIRST_SECONDS].mean()) if load.duration else 0.0
        clock = self._clock(source, conditions)
        server = self._server()
        reclaims = source.exponential if conditions.spot_reclaims_per_hour > 0 else None
        mean = 3600.0 / conditions.spot_reclaims_per_hour if reclaims else math.inf
        fleet = Fleet(
            self._timing(wanted),
            self._node_limit(),
            wanted.spares,
            server.on_ready,
            server.on_leave,
            (lambda: float(reclaims(mean))) if reclaims else (lambda: math.inf),
        )
        behavior = wanted.behavior
        needed = math.ceil(first / (self.curve.capacity * model.scaling.utilization) - 1e-9)
        start = wanted.fixed if wanted.fixed is not None else needed
        start = min(max(start, behavior.least), behavior.most)
        fleet.start_ready(start, 0.0)
        ticks = int(HISTORY_SECONDS / clock.scrape_seconds)
        history = [first * (clock.scrape_phase - tick * clock.scrape_seconds) for tick in range(ticks, 0, -1)]
        hourly = hour_quantiles(load, self.lead) if wanted.quantile_forecast else None
        loop = Loop(clock, wanted, server, fleet, history, hourly)
        loop.run()
        seconds = np.minimum(np.array(loop.timeline.moments, dtype=np.int64), max(load.duration - 1, 0))
        target = target_rate(model)
        loop.timeline.planned[:] = [None if rate is None else rate / target for rate in loop.timeline.planned]
        loop.timeline.demand.extend((self.steady[seconds] / self.curve.capacity).tolist())
        if isinstance(server, RequestServer):
            server.advance_to(load.duration + 10 * model.slo.ttft_seconds)
            loop.timeline.violating[:] = server.violations_by(loop.timeline.moments)
        return self._result(
            wanted.name,
            fleet.node_seconds,
            server.violation_seconds,
            max(loop.timeline.desired, default=start),
            time.process_time() - began,
            loop,
            fleet,
            server,
        )

    def _clock(self, source: np.random.Generator, conditions: Conditions) -> Clock:
        scrape = float(self.settings.platform.prometheus.scrape_seconds)
        sync = float(self.settings.cluster.hpa_sync_seconds)
        phases = source.random(3)
        return Clock(
            float(self.load.duration),
            scrape,
            float(RULE_SECONDS),
            sync,
            float(phases[0]) * scrape,
            float(phases[1]) * RULE_SECONDS,
            float(phases[2]) * sync,
            outages=conditions.outages,
        )

    def _server(self) -> FluidServer | RequestServer:
        model = self.model
        if self.mode == "fluid":
            engine = engine_model(self.settings, model)
            return FluidServer(
                engine.curve(*request_size(model)),
                self.curve.capacity,
                model.slo.ttft_seconds,
                float(engine.kv_tokens),
                _cumulative(self.load.per_second),
            )
        times, prompt, output = self.load.requests(self.seed, *request_size(model))
        return RequestServer(
            engine_model(self.settings, model),
            model.slo.ttft_seconds,
            times,
            prompt,
            output,
            float(model.drain.pre_stop_seconds + model.drain.shutdown_seconds),
        )

    def _timing(self, wanted: Policy) -> Timing:
        tier = {tier.name: tier for tier in tiers(self.settings, self.model)}["cold"]
        drain, pool = self.model.drain, self.settings.pool(self.model.pool)
        timing = Timing(
            node=tier.node,
            image=tier.image,
            weights=tier.weights,
            engine=tier.engine,
            drain_most=float(drain.pre_stop_seconds + drain.shutdown_seconds),
            pre_stop=float(drain.pre_stop_seconds),
            idle=float(pool.consolidation.after_seconds),
        )
        if not wanted.cluster_autoscaler:
            return timing
        return Timing(
            timing.node, timing.image, timing.weights, timing.engine, timing.drain_most, timing.pre_stop,
            idle=UNNEEDED_SECONDS, claim=SCAN_SECONDS / 2, termination=SCAN_SECONDS,
        )  # fmt: skip

    def _node_limit(self) -> int:
        pool = self.settings.pool(self.model.pool)
        return min(pool.gpu_limit, self.settings.gpu_budget.max_gpus) // self.model.gpus_per_replica

    def _result(
        self, name: str, node_seconds: float, violation: float, peak: int, cpu: float, loop: Loop | None = None,
        fleet: Fleet | None = None, server: FluidServer | RequestServer | None = None,
    ) -> ReplayResult:  # fmt: skip
        return ReplayResult(
            policy=name,
            trace=self.trace.name,
            model=self.model.name,
            duration_seconds=float(self.load.duration),
            requests=self.load.total,
            node_seconds=node_seconds,
            gpus_per_node=self.model.gpus_per_replica,
            usd=node_seconds / 3600 * self.price,
            violation_seconds=min(violation, float(self.load.duration)),
            bound_node_seconds=self.bound,
            peak_replicas=peak,
            reversals=loop.reversals if loop else 0,
            cpu_seconds=cpu,
            launches=fleet.launches if fleet else 0,
            reclaims=fleet.reclaims if fleet else 0,
            held_back=fleet.held_back if fleet else False,
            cut=server.cut if isinstance(server, RequestServer) else 0,
            lead_seconds=self.lead,
            usd_per_node_hour=self.price,
            timeline=loop.timeline if loop else None,
        )


def _cumulative(per_second: NDArray[np.generic]) -> Sequence[float]:
    """Sums before each second; an array of doubles is a quarter of a list's size."""
    sums = array("d", [0.0])
    sums.frombytes(np.cumsum(per_second, dtype=np.float64).tobytes())
    return sums
