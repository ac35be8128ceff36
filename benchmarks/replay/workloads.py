"""The stack and the traces of the replay goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planner.generator import generate
from planner.trace_files import read
from planner.traces import Trace, of_rates
from specs.settings import Settings
from specs.settings import read as read_settings

PEAK_SHARE = 0.85
"""The trace's largest bin fills this share of max replicas at full use: the target of 0.8 just fits."""
MOST = 10
CAPACITY = 1.65
DAY_SECONDS = 86_400
SHUFFLES = 3


@dataclass(frozen=True)
class Case:
    """A trace, its scale, and the largest CR that its kind allows (None: no goal)."""

    trace: Trace
    scale: float
    most_ratio: float | None = None

    @property
    def name(self) -> str:
        """The trace's name."""
        return self.trace.name


def stack(most: int = MOST, **model: Any) -> Settings:
    """One 8B model on single-GPU nodes, as the stacks ship it."""
    entry: dict[str, Any] = {
        "name": "llama3-8b",
        "pool": "inference",
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
        "replicas": {"min": 1, "max": most},
        "capacity": {"requestsPerSecond": CAPACITY, "promptTokens": 1155, "outputTokens": 211},
    }
    return read_settings(
        {
            "aws:region": "us-east-1",
            "headroom:gpuPools": [{"name": "inference", "families": ["g6", "g5"], "gpuLimit": most + 6}],
            "headroom:gpuBudget": {"maxGpus": most + 6},
            "headroom:models": [entry | model],
        }
    )


def peak_rate(trace: Trace) -> float:
    """Requests a second of the busiest bin; of the busiest half minute for counts and requests."""
    if trace.rates is not None:
        return float(trace.rates.max())
    counts = trace.counts if trace.counts is not None else np.bincount(trace.requests[0].astype(np.int64))
    sums = np.convolve(counts, np.ones(30), mode="valid")
    return float(sums.max()) / 30


def fitted(trace: Trace, most_ratio: float | None = None, most: int = MOST) -> Case:
    """The trace at a scale that fits the stack."""
    return Case(trace, PEAK_SHARE * most * CAPACITY / peak_rate(trace), most_ratio)


def _kind(name: str) -> float | None:
    lowered = name.lower()
    if "azure" in lowered and "7d" in lowered:
        return 1.45
    return 1.60 if "servegen" in lowered else None


def from_folder(folder: Path) -> list[Case]:
    """The CSV traces of a folder, in the order of their names."""
    return [fitted(trace, _kind(trace.name)) for trace in map(read, sorted(folder.glob("*.csv")))]


def made() -> list[Case]:
    """Traces of our own: hold-outs that no parameter was chosen on."""
    kinds = ("diurnal", "weekly", "bursty", "season-free")
    return [fitted(generate(kind, 7, seed=seed)) for kind in kinds for seed in (11, 12)]


def shuffled(case: Case, seed: int) -> Case | None:
    """The same trace with its days in another order; None where it has fewer than two."""
    rates = case.trace.rates
    if rates is None or case.trace.duration < 2 * DAY_SECONDS:
        return None
    per_day = DAY_SECONDS // case.trace.bin_seconds
    days = rates[: len(rates) // per_day * per_day].reshape(-1, per_day)
    order = np.random.default_rng(seed).permutation(len(days))
    trace = of_rates(f"{case.name} shuffled {seed}", days[order].ravel(), case.trace.bin_seconds)
    return Case(trace, case.scale, case.most_ratio)


Progress = Callable[[str], None]
