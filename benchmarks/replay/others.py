"""vllm-sr-sim and AISimulate on the same request trace, each in a virtual environment of its own.

Neither has an autoscaling loop: both serve the trace on a fixed fleet, so only speed is compared. Versions are the
newest that pip finds; AISimulate's releases are placeholders that fetch from another index, so its newest
pre-release with a wheel on PyPI is taken.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.traces import Trace

REPLICAS = 6
PACKAGES = {"vllm-sr-sim": "vllm-sr-sim", "AISimulate": "aisimulate"}
SR_SIM = """
import json, sys
from fleet_sim.core.fleet import Fleet, FleetConfig, PoolConfig
from fleet_sim.core.request import Request
from fleet_sim.gpu_profiles.profiles import A10G
rows = json.load(open(sys.argv[1]))
pool = PoolConfig("all", A10G, int(sys.argv[2]), 8192)
fleet = Fleet(FleetConfig([pool], router_type="LeastLoadedRouter"))
done = fleet.run([(t, Request(n, t, p, o)) for n, (t, p, o) in enumerate(rows)])
print(len(done.completed))
"""


@dataclass(frozen=True)
class Other:
    """One simulator's speed, or why it was not measured."""

    name: str
    cpu_seconds: float = 0.0
    failure: str = ""


def measured(trace: Trace, folder: Path) -> list[Other]:
    """Both simulators on the trace; virtual environments and inputs live in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_sr_sim(trace, folder), _aisimulate(trace, folder)]


def _environment(name: str, folder: Path) -> Path | str:
    """The environment's folder of programs, or why it can't be had."""
    home = folder / PACKAGES[name]
    programs = home / "bin"
    if not (home / "installed").exists():
        pip = [str(programs / "python"), "-m", "pip", "install", "-q", "--pre", "--only-binary", ":all:"]
        for command in ([sys.executable, "-m", "venv", str(home)], [*pip, PACKAGES[name]]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed"
        (home / "installed").touch()
    return programs


def _timed(name: str, command: Sequence[str]) -> Other:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return Other(name, failure=(done.stderr.strip() or "failed").splitlines()[-1])
    return Other(name, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def _sr_sim(trace: Trace, folder: Path) -> Other:
    programs = _environment("vllm-sr-sim", folder)
    if isinstance(programs, str):
        return Other("vllm-sr-sim", failure=programs)
    rows = folder / "requests.json"
    rows.write_text(json.dumps([list(map(float, row)) for row in zip(*trace.requests, strict=True)]))
    return _timed("vllm-sr-sim", [str(programs / "python"), "-c", SR_SIM, str(rows), str(REPLICAS)])


def _aisimulate(trace: Trace, folder: Path) -> Other:
    programs = _environment("AISimulate", folder)
    if isinstance(programs, str):
        return Other("AISimulate", failure=programs)
    block, lines = 0, list[str]()
    for moment, prompt, output in zip(*trace.requests, strict=True):
        blocks = -(-int(prompt) // 512)
        row = {
            "timestamp": round(float(moment) * 1000),
            "input_length": int(prompt),
            "output_length": int(output),
            "hash_ids": list(range(block, block + blocks)),
        }
        lines.append(json.dumps(row))
        block += blocks
    (folder / "requests.jsonl").write_text("\n".join(lines) + "\n")
    config = {
        "traffic": {
            "source": {"type": "trace", "paths": [str(folder / "requests.jsonl")], "format": "mooncake"},
            "load": {"type": "trace_timestamps"},
        },
        "engine": {
            "mode": "aggregated",
            "model": "meta-llama/Meta-Llama-3.1-8B",
            "hardware": "l40s",
            "backend": "vllm",
            "workers": {
                "aggregated": {
                    "parallelism": {"tensor": 1, "replicas": REPLICAS},
                    "scheduler": {"max_sequences": 64},
                }
            },
        },
    }
    (folder / "prediction.yaml").write_text(json.dumps(config))
    command = [str(programs / "aisimulate"), "predict", "--config", str(folder / "prediction.yaml")]
    return _timed("AISimulate", [*command, "--output-dir", str(folder / "prediction"), "--overwrite"])
