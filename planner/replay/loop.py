"""The whole loop on one clock: scrapes, recording rules, KEDA, HPA, scheduler and nodes around a server model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.replay.clock import Clock, Timeline
from planner.replay.evaluate import compiled
from planner.replay.fleet import Fleet
from planner.replay.hpa import Autoscaler
from planner.replay.keda import Scaler, scheduled
from planner.replay.policy import GPU_UTILISATION, QUANTILE_FORECAST, Policy
from planner.replay.schedule import Window
from planner.replay.series import Counter, Recorded, Sample
from planner.replay.server import Server
from specs import metrics_names as names
from specs.promql import Metric
from specs.triggers import CronTrigger, QueryTrigger

INFINITY = float("inf")
NOBODY = 1e-3
"""Requests, in a fluid's mean, that an engine's gauges would show as none."""


class Loop:
    """One run. `history` are counter samples before second 0, one per scrape, ending just before the first."""

    def __init__(
        self,
        clock: Clock,
        policy: Policy,
        server: Server,
        fleet: Fleet,
        history: Sequence[float],
        hourly: Callable[[float], Sample] | None = None,
    ) -> None:
        self.clock = clock
        self.policy = policy
        self.server = server
        self.fleet = fleet
        self.timeline = Timeline(max(clock.sync_seconds, clock.duration / 4000))
        self.reversals = 0
        self.rescales = 0
        self._direction = 0
        self._hourly = hourly
        self._attempts = Counter(
            clock.scrape_phase - len(history) * clock.scrape_seconds, clock.scrape_seconds
        )
        self._attempts.values.extend(history)
        self._errors = Counter(self._attempts.first, clock.scrape_seconds)
        self._errors.values.extend([0.0] * len(history))
        self._tries = 0.0
        self._scraped_waiting = self._scraped_running = self._scraped_kv = self._scraped_gpu = 0.0
        self._engines_scraped = server.ready > 0
        first_rule = clock.rule_phase - clock.rule_seconds * int(
            len(history) * clock.scrape_seconds / clock.rule_seconds
        )
        self._recorded = {rule.record: Recorded(first_rule, clock.rule_seconds) for rule in policy.rules}
        self._rules = [
            (self._recorded[rule.record].values, compiled(rule.expr, self)) for rule in policy.rules
        ]
        self._ahead = [
            self._recorded[name] for name in (names.RESERVED, names.FORECAST) if name in self._recorded
        ]
        self._published: Sample = None
        self._next_rule = first_rule
        self._triggers = [
            (Scaler(trigger), compiled(trigger.query, self))
            for trigger in policy.triggers
            if isinstance(trigger, QueryTrigger) and not isinstance(trigger.query, str)
        ]
        self._crons = [
            Window(trigger, clock.start) for trigger in policy.triggers if isinstance(trigger, CronTrigger)
        ]
        self._hpa = Autoscaler(policy.behavior)
        self._last_active = 0.0

    def counter(self, metric: Metric) -> Counter | None:
        """Scraped counters of the router."""
        if metric.name == names.ROUTER_ATTEMPTS:
            return self._attempts
        return self._errors if metric.name == names.ROUTER_ERRORS else None

    def gauge(self, metric: Metric, aggregation: str) -> Callable[[], Sample] | None:
        """Scraped gauges of engines and router, and the series the replay publishes for a baseline."""
        del aggregation
        name = metric.name
        if name == names.ROUTER_WORKERS:
            return lambda: float(self.server.ready)
        if name == names.WAITING:
            return lambda: self._scraped_waiting if self._engines_scraped else None
        if name == names.RUNNING:
            return lambda: self._scraped_running if self._engines_scraped else None
        if name == names.KV_USAGE:
            return lambda: self._scraped_kv if self._engines_scraped else None
        if name == GPU_UTILISATION:
            return lambda: self._scraped_gpu if self._engines_scraped else None
        if name == QUANTILE_FORECAST and self._hourly is not None:
            return lambda: self._published
        return None

    def recorded(self, name: str) -> Recorded | None:
        """Series that the policy's rules record."""
        return self._recorded.get(name)

    def run(self) -> None:
        """From second 0 to the end."""
        clock, fleet, server = self.clock, self.fleet, self.server
        while self._next_rule < 0:
            self._evaluate_rules(self._next_rule)
        next_scrape, next_sync, next_line = clock.scrape_phase, clock.sync_phase, 0.0
        polls = self.policy.behavior.least == 0
        next_poll = clock.sync_phase / 2 if polls else INFINITY
        if self.policy.fixed is not None:
            next_sync = INFINITY
        end = clock.duration
        while True:
            moment = min(next_scrape, next_sync, self._next_rule, fleet.next_event, next_poll)
            if moment >= end:
                break
            server.advance_to(moment)
            if fleet.next_event <= moment:
                fleet.run_until(moment)
            if next_scrape <= moment:
                self._scrape()
                next_scrape += clock.scrape_seconds
            if self._next_rule <= moment:
                self._evaluate_rules(moment)
            if next_poll <= moment:
                self._poll(moment)
                next_poll += self.policy.polling_seconds
            if next_sync <= moment:
                self._sync(moment)
                next_sync += clock.sync_seconds
                if moment >= next_line:
                    self._note(moment)
                    next_line = moment + self.timeline.every
        server.advance_to(end)
        fleet.finish(end)

    def _scrape(self) -> None:
        server = self.server
        self._attempts.values.append(server.processed())
        # A held request is tried about once a second.
        self._tries += server.held * self.clock.scrape_seconds
        self._errors.values.append(self._tries)
        # A fluid runs dry without end; engines count whole requests.
        idle = server.waiting + server.running < NOBODY
        self._scraped_waiting, self._scraped_running = (
            (0.0, 0.0) if idle else (server.waiting, server.running)
        )
        self._scraped_kv = 0.0 if idle else server.kv_usage
        self._scraped_gpu = server.gpu_utilisation
        self._engines_scraped = server.ready > 0

    def _evaluate_rules(self, moment: float) -> None:
        down = self._prometheus_down(moment)
        for values, evaluate in self._rules:
            values.append(None if down else evaluate(moment))
        self._next_rule += self.clock.rule_seconds

    def _prometheus_down(self, moment: float) -> bool:
        return any(start <= moment < end for start, end in self.clock.outages)

    def _values(self, moment: float) -> list[Sample]:
        if self._hourly is not None:
            self._published = self._hourly(moment)
        if self.clock.outages and self._prometheus_down(moment):
            return [None] * len(self._triggers)
        return [evaluate(moment) for _, evaluate in self._triggers]

    def _poll(self, moment: float) -> None:
        """KEDA between 0 and 1."""
        replicas = len(self.fleet.pods)
        values = self._values(moment)
        active = any(
            scaler.active(value) for value, (scaler, _) in zip(values, self._triggers, strict=True)
        ) or any(window.open(moment) for window in self._crons)
        if active:
            self._last_active = moment
            if not replicas:
                self._apply(1, moment)
        elif replicas and moment - self._last_active >= self.policy.cooldown_seconds:
            self._apply(0, moment)

    def _sync(self, moment: float) -> None:
        """One look of the HPA; it is off while replicas are 0."""
        replicas = len(self.fleet.pods)
        if not replicas:
            return
        ready = self.fleet.ready
        proposals: list[int | None] = []
        fallback = max(1, self.policy.behavior.least)
        for (scaler, _), value in zip(self._triggers, self._values(moment), strict=True):
            proposals.append(scaler.proposal(value, replicas, ready, fallback))
        proposals.extend(
            scheduled(window.trigger, window.open(moment), replicas, ready) for window in self._crons
        )
        wanted = self._hpa.desired(moment, replicas, proposals)
        if wanted != replicas:
            self._apply(wanted, moment)

    def _apply(self, wanted: int, moment: float) -> None:
        current = len(self.fleet.pods)
        direction = 1 if wanted > current else -1
        self.rescales += 1
        if self._direction and direction != self._direction:
            self.reversals += 1
        self._direction = direction
        self.fleet.scale(wanted, moment)

    def _note(self, moment: float) -> None:
        line = self.timeline
        line.moments.append(moment)
        line.desired.append(len(self.fleet.pods))
        line.ready.append(self.server.ready)
        line.nodes.append(len(self.fleet.nodes))
        line.waiting.append(self.server.waiting + self.server.held)
        line.violating.append(self.server.violation_so_far)
        known = [self._published] + [series.at(moment) for series in self._ahead]
        line.planned.append(max((value for value in known if value is not None), default=None))
