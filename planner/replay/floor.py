"""The floor of replicas that a trace warrants: where bursts are shorter than a start, nothing else helps."""

from __future__ import annotations

from dataclasses import dataclass

from planner.replay.result import ReplayResult
from planner.replay.simulate import bound_peak, model_named, run
from planner.replay.stage import Mode
from planner.traces import Trace
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

    @property
    def usd_a_month(self) -> float:
        """Added cost of the recommended floor in USD a month of 730 hours, on-demand."""
        return _monthly(self.result, self.without)

    @property
    def advice(self) -> str:
        """What to tell the user, in one or two sentences."""
        least = self.without
        text = f"The configured floor is the cheapest for this trace (replicas.min {self.replicas})."
        if self.result is not least:
            text = (
                f"replicas.min {self.replicas} lowers the time in violation from {least.violation_share:.2%} to"
                f" {self.result.violation_share:.2%} for {self.usd_a_month:+,.0f} USD a month."
            )
        if self.steady_result is not None:
            text += (
                f" Bursts outrun the {least.lead_seconds:.0f} s a new replica takes, so only a floor keeps the"
                f" violations below {ALLOWED_SHARE:.1%}: replicas.min {self.steady}, for"
                f" {_monthly(self.steady_result, least):+,.0f} USD a month."
            )
        elif self.result.violation_share > ALLOWED_SHARE:
            text += f" No floor within replicas.max keeps the violations below {ALLOWED_SHARE:.1%}."
        return text


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
) -> Floor:
    """Search replicas.min for the least cost J (node-hours plus 20 for each hour in violation): a coarse grid up
    to the trace's peak, then the neighbours of the best. Raises ReplayError as `run` does.
    """
    chosen = model_named(settings, model)
    least, most = chosen.replicas.min, chosen.replicas.max
    known: dict[int, ReplayResult] = {}

    def cost(floor: int) -> float:
        if floor not in known:
            known[floor] = run(with_floor(settings, chosen, floor), trace, chosen.name, scale, seed, mode)
        return known[floor].cost

    cost(least)
    peak = min(most, max(least, bound_peak(settings, trace, chosen, scale, seed)))
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
    return Floor(best, known[best], known[least], steady, known[steady] if steady is not None else None)
