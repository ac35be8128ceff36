"""Every goal that replay can measure, in one table.

`.venv/bin/python -m benchmarks.goals [--traces FOLDER] [--others FOLDER] [--json FILE] [--quick]`

FOLDER (or HEADROOM_TRACES) holds public trace extracts; without it the project's own traces stand alone. `--others`
names a folder in which virtual environments for vllm-sr-sim and AISimulate are made. `--quick` leaves the long
searches out. Ends with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.replay import bursts, goals, speed, table
from benchmarks.replay.workloads import DAY_SECONDS, Case, fitted, from_folder, made
from planner.generator import generate
from planner.traces import Trace, of_rates, of_requests


def _day(case: Case) -> Case:
    """The first day of a rate trace; anything else as it is."""
    trace = case.trace
    if trace.rates is None or trace.duration <= DAY_SECONDS:
        return case
    rates = trace.rates[: DAY_SECONDS // trace.bin_seconds]
    return Case(of_rates(f"{trace.name} day 1", rates, trace.bin_seconds), case.scale)


def _requests() -> Trace:
    """An hour of requests of our own, for the speed of the request mode without public traces."""
    source = np.random.default_rng(5)
    times = np.sort(source.random(20_000) * 3600)
    return of_requests("own hour", times, source.integers(50, 3000, 20_000), source.integers(10, 600, 20_000))


def main() -> int:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(description="The goals that replay can measure, in one table.")
    folder = os.environ.get("HEADROOM_TRACES")
    parser.add_argument("--traces", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--others", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    log = Console(stderr=True)

    def note(text: str) -> None:
        log.print(f"[dim]{text}[/]")

    public = from_folder(chosen.traces) if chosen.traces else []
    own = [fitted(generate(kind, 7, seed=11)) for kind in ("diurnal", "bursty")] if chosen.quick else made()
    cases = [*public, *own]
    results = goals.compared(cases, note)
    rows = goals.bound_rows(cases, results)
    if public:
        rows += goals.median_rows({case.name: results[case.name] for case in public}, "public traces")
    rows += goals.median_rows({case.name: results[case.name] for case in own}, "own traces")
    if not chosen.quick:
        rows += goals.regret_rows(cases, results, note)
        rows += goals.forecast_rows([*public, *own], note)
    note("constant load, bursts, speed")
    rows += goals.reversal_rows() + bursts.burst_rows()
    hour = next((case for case in public if case.trace.times is not None), Case(_requests(), 1.0))
    rows += speed.request_rows(Case(hour.trace, 1.0), chosen.others) + speed.fluid_rows()
    rows += speed.agreement_rows([_day(case) for case in cases])
    table.show(rows, Console(width=150) if not sys.stdout.isatty() else Console())
    if chosen.json:
        table.save(rows, chosen.json)
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
