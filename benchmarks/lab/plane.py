"""Goals L3 and L4: how soon a lab is well, and what its control plane takes with ten models on it.

python -m benchmarks.lab.plane [--seconds 120] [--json FILE]   # about 5 minutes, tools built
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.console import Console

from benchmarks.lab.bursts import PATIENCE
from benchmarks.lab.staged import staged
from benchmarks.replay.table import Row, save, show
from lab.control import plane
from lab.control.report import ComponentStatus, status
from lab.scenario.model import Watched

MODELS: Final = 10
GPUS: Final = 3 * MODELS
STARTS: Final = 3
FACTOR: Final = 0.02
NOT_CONTROL: Final = ("fleet", "aws", "keeper")
"""What stands in for the rest of the world, and the lab's own keeper: engines and routers, AWS."""


def overrides() -> dict[str, Any]:
    """Ten models of one replica each."""
    models = [
        {
            "name": f"model-{number}",
            "pool": "inference",
            "model": "meta-llama/Meta-Llama-3-8B-Instruct",
            "weightsGiB": 15,
            "replicas": {"min": 1, "max": 2},
            "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
            "ingress": {"enabled": False},
        }
        for number in range(MODELS)
    ]
    off = [{"name": name, "enabled": False} for name in ("llama3-8b", "mistral-7b")]
    return {
        "headroom:gpuPools": [{"name": "inference", "gpuLimit": GPUS}],
        "headroom:gpuBudget": {"maxGpus": GPUS},
        "headroom:models": [*off, *models],
    }


def starts(folder: Path) -> list[float]:
    """Seconds of `lab up` in an empty folder."""
    found: list[float] = []
    for number in range(STARTS):
        began = time.monotonic()
        made = plane.up(folder / f"lab-{number}")
        found.append(time.monotonic() - began)
        plane.down(made.state_dir)
    return found


def ten_models(seconds: float) -> tuple[float, float, float]:
    """GiB held, cores used on average, and seconds of `up`, by the control plane and ten models at rest."""
    with staged(overrides(), FACTOR) as up:
        all_models = [Watched(up.timeline, one) for one in up.stage.settings.active_models]
        up.timeline.until(
            lambda: all(len(one.engines(ready=True)) == 1 for one in all_models), PATIENCE, "ten engines"
        )
        before = _control(up.stage.plane.state_dir)
        time.sleep(seconds)
        after = _control(up.stage.plane.state_dir)
    rss = sum(one.rss_bytes or 0 for one in after.values()) / (1 << 30)
    spent = sum((one.cpu_seconds or 0) - (before[name].cpu_seconds or 0) for name, one in after.items())
    return rss, spent / seconds, up.brought_up.seconds


def _control(state: Path) -> dict[str, ComponentStatus]:
    return {one.name: one for one in status(state).components if one.name not in NOT_CONTROL}


def main() -> None:
    """Measures both and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        up = median(starts(Path(folder)))
    memory, cores, seconds = ten_models(asked.seconds)
    rows = [
        Row("L4", f"lab up, median of {STARTS}", f"{up:.1f} s", "20 s", up, 20),
        Row("L3", f"memory, {MODELS} models", f"{memory:.2f} GiB", "1.5 GiB", memory, 1.5),
        Row("L3", f"CPU, {MODELS} models, {asked.seconds:g} s", f"{cores:.2f} cores", "1 core", cores, 1),
    ]
    show(rows, Console())
    Console().print(f"up of {MODELS} models: {seconds:.0f} s", highlight=False)
    if asked.json:
        save(rows, asked.json)


if __name__ == "__main__":
    main()
