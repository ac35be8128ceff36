"""Prometheus' own verdict: expected values handed to the real promtool."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.tools import ToolError, find

NO_LABELS = "{}"
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Expectation:
    """A query, when it is asked, and its only value; None for an empty result."""

    query: str
    seconds: float
    value: float | None

    @property
    def asked(self) -> str:
        """The query itself for an empty result; else whether its value is the expected one up to rounding."""
        if self.value is None:
            return self.query
        allowed = TOLERANCE * max(1.0, abs(self.value))
        return f"abs(({self.query}) - ({self.value!r})) <= bool {allowed!r}"


def promtool() -> str:
    """The promtool that was built before or is on PATH; the test is skipped without one."""
    try:
        found = find("promtool")
    except ToolError:
        found = None
    path = str(found) if found else shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not built yet: ./headroom tools promtool")
    return path


def judge(
    folder: Path,
    groups: Sequence[object],
    interval: int,
    series: Mapping[str, Sequence[float]],
    expected: Sequence[Expectation],
    tick: str = "30s",
) -> None:
    """Let promtool evaluate rules over samples every `interval` seconds and compare. JSON is valid YAML.

    promtool sees samples only up to the last `tick` before a query.
    """
    (folder / "rules.yaml").write_text(json.dumps({"groups": list(groups)}))
    tests = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": tick,
        "tests": [
            {
                "interval": f"{interval}s",
                "input_series": [
                    {"series": name, "values": " ".join(repr(value) for value in values)}
                    for name, values in series.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": item.asked,
                        "eval_time": f"{round(item.seconds * 1000)}ms",
                        "exp_samples": [] if item.value is None else [{"labels": NO_LABELS, "value": 1}],
                    }
                    for item in expected
                ],
            }
        ],
    }
    (folder / "tests.yaml").write_text(json.dumps(tests))
    done = subprocess.run(
        [promtool(), "test", "rules", str(folder / "tests.yaml")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
