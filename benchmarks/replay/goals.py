"""Goals P1-P7 and P9: node-seconds and violations of every policy on every trace."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from benchmarks.replay.table import Row
from benchmarks.replay.workloads import SHUFFLES, Case, Progress, shuffled, stack
from planner.generator import generate
from planner.replay import POLICIES, ReplayResult, recommended_floor, run
from planner.traces import of_rates

BASELINES = tuple(name for name in POLICIES if name not in ("ours", "clairvoyant"))
"""The clairvoyant bound knows the future: CR measures the distance to it, regret that to what can be built."""
ALLOWED_SHARE = 0.005
DAY_SECONDS = 86_400
CONSTANT_RATES = (1.0, 1.3, 2.5, 4.0, 6.5, 10.0)


def _hours(result: ReplayResult) -> str:
    return f"{result.node_seconds / 3600:.1f} h"


def compared(cases: Sequence[Case], note: Progress) -> dict[str, dict[str, ReplayResult]]:
    """Every policy on every trace, as a fluid."""
    settings = stack()
    found: dict[str, dict[str, ReplayResult]] = {}
    for case in cases:
        note(case.name)
        found[case.name] = {
            name: run(settings, case.trace, scale=case.scale, mode="fluid", policy=name)
            for name in ("ours", *BASELINES)
        }
    return found


def bound_rows(cases: Sequence[Case], results: dict[str, dict[str, ReplayResult]]) -> list[Row]:
    """P1 and P2 on traces of a day or more that have a goal; P2 on all of them."""
    rows: list[Row] = []
    for case in cases:
        ours = results[case.name]["ours"]
        if case.trace.duration < DAY_SECONDS or case.most_ratio is None:
            continue
        bound = f"{ours.bound_node_seconds / 3600:.1f} h"
        rows.append(Row("P1", case.name, _hours(ours), bound, ours.bound_ratio, case.most_ratio))
        seconds = f"{ours.violation_seconds:.0f} s"
        rows.append(Row("P2", case.name, seconds, "", ours.violation_share, ALLOWED_SHARE))
    return rows


def median_rows(results: dict[str, dict[str, ReplayResult]], label: str) -> list[Row]:
    """P3, P4 and P5: medians over the traces."""
    rows: list[Row] = []
    for goal, name, threshold in (("P3", "published", 0.80), ("P4", "hpa-gpu", 0.60), ("P5", "static", 0.75)):
        ratios = [found["ours"].node_seconds / found[name].node_seconds for found in results.values()]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        rows.append(Row(goal, f"node-seconds, {label}", spread, name, median(ratios), threshold))
    late = [
        found["ours"].violation_seconds / found["published"].violation_seconds
        for found in results.values()
        if found["published"].violation_seconds > 0
    ]
    if late:
        spread = f"{min(late):.3f} to {max(late):.3f}"
        rows.append(Row("P3", f"violations, {label}", spread, "published", median(late), 0.10))
    return rows


def regret_rows(
    cases: Sequence[Case], results: dict[str, dict[str, ReplayResult]], note: Progress
) -> list[Row]:
    """P6: cost from the recommended floor against the best baseline."""
    rows: list[Row] = []
    for case in cases:
        note(f"floor for {case.name}")
        floor = recommended_floor(stack(), case.trace, scale=case.scale)
        best = min((results[case.name][name] for name in BASELINES), key=lambda result: result.cost)
        words = f"J {floor.result.cost:.1f}, floor {floor.replicas}"
        regret = floor.result.cost / best.cost
        rows.append(Row("P6", case.name, words, f"{best.policy} {best.cost:.1f}", regret, 1.05))
    return rows


def forecast_rows(cases: Sequence[Case], note: Progress) -> list[Row]:
    """P7: with the gated forecast against without, on shuffled days and on season-free traces."""
    off = stack(scaling={"forecast": {"enabled": False}})
    wanted = [found for case in cases for seed in range(SHUFFLES) if (found := shuffled(case, seed))]
    wanted += [Case(generate("season-free", 7, 5.0, seed), 1.0) for seed in range(21, 24)]
    rows: list[Row] = []
    for case in wanted:
        note(f"forecast on {case.name}")
        ours, without = (
            run(settings, case.trace, scale=case.scale, mode="fluid") for settings in (stack(), off)
        )
        figures = (f"J {ours.cost:.1f}", f"reactive {without.cost:.1f}")
        rows.append(Row("P7", case.name, *figures, ours.cost / without.cost, 1.02))
    return rows


def reversal_rows() -> list[Row]:
    """P9: changes of direction an hour at constant load."""
    rows: list[Row] = []
    for rate in CONSTANT_RATES:
        result = run(stack(), of_rates("constant", np.full(1440, rate), 60), mode="fluid", seed=1)
        an_hour = result.reversals / (result.duration_seconds / 3600)
        rows.append(Row("P9", f"constant {rate:g}/s", f"{result.reversals} in a day", "", an_hour, 2))
    return rows
