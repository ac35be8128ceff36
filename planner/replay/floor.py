"""The floor of replicas that a trace warrants: where bursts are shorter than a start, nothing else helps."""

from __future__ import annotations

from dataclasses import dataclass

from planner.replay.result import ReplayResult
from planner.replay.simulate import bound_peak, model_named, run
from planner.replay.stage import Mode
from planner.traces import Trace
from specs.offered import most_replicas
from specs.settings.model import Model
from specs.settings.stack import Settings

HOURS_A_MONTH = 730.0
ALLOWED_SHARE = 0.005
"""Share of the time in violation that a service should stay below."""
WORTH = 0.98
"""A higher floor is recommended only if it lowers the cost by more than 2 %."""


@dataclass(frozen=True)
class Floor:
    """The recommended replicas.min, the figures with it and without it, and what it adds to a month's bill.

    `steady` is the lowest floor that keeps the violations within ALLOWED_SHARE, where the recommended one does not
    and one within replicas.max does.
    """

    replicas: int
    result: ReplayResult
    without: ReplayResult
    steady: int | None = None
    steady_result: ReplayResult | None = None
    asked: int = 0
    """Replicas the trace asks for at its busiest, each run at full capacity."""
    most: int = 0
    """Replicas that max, pool and budget allow."""

    @property
    def usd_a_month(self) -> float:
        """Added cost of the recommended floor in USD a month of 730 hours, on-demand."""
        return _monthly(self.result, self.without)

    @property
    def advice(self) -> str:
        """What to tell the user, in a few sentences."""
        least = self.without
        if self.result is least and least.violation_share <= ALLOWED_SHARE:
            return f"The configured floor is the cheapest for this trace (replicas.min {self.replicas})."
        return " ".join([*self._reason(), *self._floors()])

    def _reason(self) -> list[str]:
        least = self.without
        if least.violation_share <= ALLOWED_SHARE:
            return []
        found = [f"In violation {least.violation_share:.2%} of the time, more than {ALLOWED_SHARE:.1%}."]
        if self.asked > self.most:
            found.append(
                f"The trace asks for up to {self.asked} replicas at full capacity and the stack allows {self.most}:"
                " raise replicas.max, with the pool's gpuLimit and the GPU budget."
            )
        else:
            found.append(
                f"A new replica takes {least.lead_seconds:.0f} s:"
                " against bursts shorter than that nothing beats a floor."
            )
        return found

    def _floors(self) -> list[str]:
        least, found = self.without, list[str]()
        if self.result is not least:
            found.append(
                f"replicas.min {self.replicas} lowers the time in violation from {least.violation_share:.2%} to"
                f" {self.result.violation_share:.2%} for {self.usd_a_month:+,.0f} USD a month."
            )
        if self.steady_result is not None:
            found.append(
                f"It takes replicas.min {self.steady} to stay below {ALLOWED_SHARE:.1%}"
                f" ({self.steady_result.violation_share:.2%}), for {self.steady_usd_a_month:+,.0f} USD a month."
            )
        elif self.result.violation_share > ALLOWED_SHARE and self.asked <= self.most:
            found.append(
                f"No floor within replicas.max stays below {ALLOWED_SHARE:.1%}: raise replicas.max, or lower"
                " scaling.utilization."
            )
        return found

    @property
    def steady_usd_a_month(self) -> float:
        """Added cost of the steady floor in USD a month of 730 hours, on-demand; 0 without one."""
        return _monthly(self.steady_result, self.without) if self.steady_result else 0.0

    def as_json(self) -> dict[str, object]:
        """Documented keys of `recommendedFloor`; docs/json/replay.schema.json describes them."""
        steady = self.steady_result
        return {
            "replicas": self.replicas,
            "violationShare": round(self.result.violation_share, 6),
            "usdPerMonth": round(self.usd_a_month, 2),
            "steadyReplicas": self.steady if steady else None,
            "steadyViolationShare": round(steady.violation_share, 6) if steady else None,
            "steadyUsdPerMonth": round(self.steady_usd_a_month, 2) if steady else None,
        }


def _monthly(result: ReplayResult, without: ReplayResult) -> float:
    hours = result.duration_seconds / 3600
    return (result.usd - without.usd) / hours * HOURS_A_MONTH if hours else 0.0


def with_floor(settings: Settings, model: Model, replicas: int) -> Settings:
    """The same stack with another replicas.min."""
    range_ = model.replicas.model_copy(update={"min": replicas})
    changed = model.model_copy(update={"replicas": range_})
    models = tuple(changed if entry.name == model.name else entry for entry in settings.models)
    return settings.model_copy(update={"models": models})


def recommended_floor(
    settings: Settings,
    trace: Trace,
    model: str | None = None,
    scale: float = 1.0,
    seed: int = 0,
    mode: Mode = "fluid",
    without: ReplayResult | None = None,
) -> Floor:
    """Search replicas.min for the least cost J (node-hours plus 20 for each hour in violation): a coarse grid up
    to the trace's peak, then the neighbours of the best. `without` is a replay of the same arguments that is known
    already. Raises ReplayError as `run` does.
    """
    chosen = model_named(settings, model)
    least, most = chosen.replicas.min, chosen.replicas.max
    known: dict[int, ReplayResult] = {} if without is None else {least: without}

    def cost(floor: int) -> float:
        if floor not in known:
            known[floor] = run(with_floor(settings, chosen, floor), trace, chosen.name, scale, seed, mode)
        return known[floor].cost

    cost(least)
    asked = bound_peak(settings, trace, chosen, scale, seed)
    peak = min(most, max(least, asked))
    step = max(1, (peak - least) // 4)
    best = min(range(least, peak + 1, step), key=cost)
    while step > 1:
        step = max(1, step // 2)
        best = min((floor for floor in (best, best - step, best + step) if least <= floor <= most), key=cost)
    if known[best].cost > WORTH * known[least].cost:
        best = least
    steady = None
    if known[best].violation_share > ALLOWED_SHARE:
        low, high = best, most
        cost(high)
        while known[high].violation_share <= ALLOWED_SHARE and high - low > 1:
            middle = (low + high) // 2
            cost(middle)
            low, high = (low, middle) if known[middle].violation_share <= ALLOWED_SHARE else (middle, high)
        steady = high if known[high].violation_share <= ALLOWED_SHARE else None
    return Floor(
        best,
        known[best],
        known[least],
        steady,
        known[steady] if steady is not None else None,
        asked,
        most_replicas(settings, chosen),
    )
