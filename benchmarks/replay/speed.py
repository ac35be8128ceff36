"""Goals S1 to S4: requests and simulated seconds per CPU second, memory, equal bytes, agreement of the modes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.replay.others import measured
from benchmarks.replay.table import Row
from benchmarks.replay.workloads import Case, stack
from planner.generator import generate
from planner.replay import ReplayResult, run

RUNS = 5
WEEK_SECONDS = 7 * 86_400
WEEK_PROGRAM = """
import json, pathlib
from benchmarks.replay.workloads import fitted, stack
from planner.generator import generate
from planner.replay import run
case = fitted(generate("weekly", 7, seed=1))
result = run(stack(), case.trace, scale=case.scale, mode="fluid")
document = {key: value for key, value in result.as_json().items() if key != "cpuSeconds"}
status = pathlib.Path("/proc/self/status").read_text()
print(json.dumps([document, int(status.split("VmHWM:")[1].split()[0]) / 1024]))
"""


def _cpu(case: Case, mode: str) -> tuple[float, ReplayResult]:
    chosen = "request" if mode == "request" else "fluid"
    results = [run(stack(), case.trace, scale=case.scale, mode=chosen) for _ in range(RUNS)]
    return median(result.cpu_seconds for result in results), results[-1]


def request_rows(case: Case, folder: Path | None) -> list[Row]:
    """S1 on a request trace, beside the other simulators where a folder for them is given."""
    cpu, result = _cpu(case, "request")
    speed = result.requests / cpu
    rows = [Row("S1", case.name, f"{speed:,.0f} requests/CPU s", "", speed, 20_000, at_least=True)]
    for other in measured(case.trace, folder) if folder else ():
        if other.failure:
            rows.append(Row("S1", f"{other.name}: {other.failure}", "", "not measured", 0, 10, at_least=True))
            continue
        theirs = len(case.trace.requests[0]) / other.cpu_seconds
        words = f"{theirs:,.0f} requests/CPU s"
        rows.append(
            Row(
                "S1",
                f"over {other.name}",
                f"{speed:,.0f}",
                words,
                speed / theirs,
                10 if other.name == "AISimulate" else 1,
                at_least=True,
            )
        )
    return rows


def fluid_rows() -> list[Row]:
    """S2 and S3 on a week of our own."""
    case = Case(generate("weekly", 7, 5.0, seed=1), 1.0)
    cpu, result = _cpu(case, "fluid")
    speed = result.duration_seconds / cpu
    rows = [
        Row("S2", "a week, simulated s/CPU s", f"{speed:,.0f}", "", speed, 100_000, at_least=True),
        Row("S2", "a week, CPU seconds", f"{cpu:.2f} s", "", cpu, 5),
    ]
    found: list[tuple[object, float]] = []
    for _ in range(2):
        command = [sys.executable, "-c", WEEK_PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        document, memory = json.loads(done.stdout)
        found.append((document, float(memory)))
    same = 1.0 if found[0][0] == found[1][0] else 0.0
    rows.append(Row("S3", "a week, peak memory", f"{found[0][1]:.0f} MiB", "", found[0][1], 300))
    rows.append(Row("S3", "same seed, same figures", "two processes", "", same, 1, at_least=True))
    return rows


def agreement_rows(cases: list[Case]) -> list[Row]:
    """S4: node-seconds of the fluid against the requests."""
    rows: list[Row] = []
    for case in cases:
        fluid, request = (
            run(stack(), case.trace, scale=case.scale, mode=mode) for mode in ("fluid", "request")
        )
        gap = abs(fluid.node_seconds / request.node_seconds - 1)
        words = (f"{fluid.node_seconds / 3600:.1f} h", f"requests {request.node_seconds / 3600:.1f} h")
        rows.append(Row("S4", case.name, *words, gap, 0.03))
        late = f"fluid {fluid.violation_share:.2%}"
        rows.append(Row("P2", f"{case.name}, by request", late, "", request.violation_share, 0.005))
    return rows
