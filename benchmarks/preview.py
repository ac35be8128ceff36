"""D1: seconds of a preview over the recorded cloud for 1 to 64 models, and memory of `render` at 64.

`python benchmarks/preview.py` prints a table; figures go to docs/measurements.md by hand, with date and machine.
The empty program is previewed in the same run, so the engine's own start is told apart.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from ruamel.yaml import YAML

from lab.cloud.session import RecordedCloud
from lab.tools import ensure

PROJECT = Path(__file__).resolve().parent.parent
SIZES = (1, 2, 4, 8, 16, 32, 64)
REPEATS = 3


def stack(models: int) -> Mapping[str, Any]:
    """A configuration with so many one-GPU models."""
    entry = {
        "pool": "inference",
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "replicas": {"min": 1, "max": 2},
        "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
    }
    return {
        "aws:region": "us-east-1",
        "headroom:cluster": {"systemNodes": {"instanceTypes": ["m7i.4xlarge"], "min": 4, "max": 4}},
        "headroom:gpuPools": [{"name": "inference", "families": ["g6", "g5"], "gpuLimit": 2 * models + 1}],
        "headroom:gpuBudget": {"maxGpus": 2 * models + 1},
        "headroom:models": [{"name": f"model-{index:02d}"} | entry for index in range(models)],
    }


def project(folder: Path, models: int) -> Path:
    """A folder with the program's Pulumi.yaml and a stack file of so many models."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "Pulumi.yaml", folder)
    with (folder / "Pulumi.bench.yaml").open("w") as file:
        YAML(typ="safe", pure=True).dump({"config": dict(stack(models))}, file)
    return folder


def seconds(folder: Path, main: Path) -> float:
    """Median wall seconds of a first preview."""
    taken: list[float] = []
    for repeat in range(REPEATS):
        state = folder / f"state-{repeat}"
        with RecordedCloud(folder, state, ensure(["pulumi"])["pulumi"], main=main) as cloud:
            outcome = cloud.preview("bench")
        if not outcome.ok:
            raise SystemExit("\n".join(outcome.problems))
        taken.append(outcome.seconds)
    return statistics.median(taken)


def render_memory(models: int) -> float:
    """Peak MiB of a process that renders so many models."""
    code = (
        "import json,sys,resource,pathlib;from lab.render import render;"
        "render(pathlib.Path('__main__.py'),'bench',json.load(sys.stdin));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(stack(models)),
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def main() -> None:
    """Measure and print."""
    console = Console()
    with tempfile.TemporaryDirectory() as scratch:
        empty = Path(scratch) / "empty" / "__main__.py"
        project(empty.parent, 1)
        empty.write_text("")
        base = seconds(empty.parent, empty)
        times = {
            models: seconds(project(Path(scratch) / str(models), models), PROJECT / "__main__.py")
            for models in track(SIZES, description="previewing", console=console)
        }
    slope = statistics.linear_regression(list(times), list(times.values()))
    growth = (times[64] - times[32]) / (times[32] - times[16])
    table = Table(title="D1: preview over the recorded cloud", title_justify="left")
    for column in ("models", "seconds", "over the empty program"):
        table.add_column(column, justify="right")
    table.add_row("empty program", f"{base:.2f}", "1.0")
    for models, taken in times.items():
        table.add_row(str(models), f"{taken:.2f}", f"{taken / base:.1f}")
    console.print(table)
    console.print(f"b = {slope.slope:.3f} s per model (goal <= 0.30)")
    console.print(f"(T64-T32)/(T32-T16) = {growth:.2f} (goal 1.8 to 2.2)")
    console.print(f"render of 64 models: {render_memory(64):.0f} MiB peak")
    console.print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB peak")


if __name__ == "__main__":
    main()
