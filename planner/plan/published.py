"""The commonly published cost comparison of this kind of stack, computed again, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from planner.plan.cost import Cost

# 192, 112 and 64 GPU-hours a day on g5.2xlarge at $1.212 and a month of 30 days, published as about $7,000, $4,080
# and $1,850; the last one implies 20.5 % off the on-demand price.
USD_PER_HOUR = 1.212
DAYS = 30
INSTANCE = "g5.2xlarge"
SPOT_BLEND = 1 - 0.205
SHAPES = (
    ("static", 192.0, 1.0),
    ("reactive", 112.0, 1.0),
    ("predictive", 64.0, 1.0),
    ("predictiveSpot", 64.0, SPOT_BLEND),
)
PUBLISHED = {"static": 7000.0, "reactive": 4080.0, "predictiveSpot": 1850.0}
GPU_LINES = frozenset({"gpuNodes"})


@dataclass(frozen=True)
class Scenario:
    """One row: GPU-hours a day and USD a month, computed and as published."""

    name: str
    gpu_hours_a_day: float
    usd: float
    published_usd: float | None

    def as_json(self) -> dict[str, object]:
        """Documented keys of `published.scenarios`."""
        return {
            "name": self.name,
            "gpuHoursPerDay": self.gpu_hours_a_day,
            "usd": round(self.usd, 2),
            "publishedUsd": self.published_usd,
        }


def scenarios() -> list[Scenario]:
    """Static, reactive, predictive on-demand, predictive with the implied discount."""
    return [
        Scenario(name, hours, hours * DAYS * USD_PER_HOUR * share, PUBLISHED.get(name))
        for name, hours, share in SHAPES
    ]


def as_json(bill: Cost) -> dict[str, object]:
    """Documented keys of `published`: `leavesOutUsd` is this stack's typical month without the GPU hours that serve."""
    left_out: dict[str, float] = {}
    for line in bill.lines:
        if line.item not in GPU_LINES:
            left_out[line.item] = left_out.get(line.item, 0.0) + line.typical
    return {
        "instanceType": INSTANCE,
        "usdPerHour": USD_PER_HOUR,
        "days": DAYS,
        "scenarios": [scenario.as_json() for scenario in scenarios()],
        "leavesOutUsd": {item: round(usd, 2) for item, usd in left_out.items()},
    }
