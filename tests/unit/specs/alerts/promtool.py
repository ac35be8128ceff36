"""Alerts put to the real promtool: every case of a table in one process, each with its own verdict."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from specs.alerts.rules import model_group, platform_groups
from specs.forecast import RULE_SECONDS
from specs.settings import Settings
from tests.unit.specs.promql.reference import promtool

Rules = list[tuple[str, Mapping[str, Any]]]
"""Each with its group's name."""


@dataclass(frozen=True)
class Case:
    """Series in promtool's notation (`0+2x100`: 100 steps of 2 from 0), a sample every `interval` seconds, and how
    many alerts of that name fire at second `at`.
    """

    alert: str
    told: str
    stack: Settings
    series: Mapping[str, str]
    at: int
    fires: int = 1
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    interval: int = 30
    tick: int = RULE_SECONDS
    """Seconds between two evaluations; coarser where hours pass."""

    @property
    def name(self) -> str:
        """A sentence: it is the test's id."""
        verb = "fires" if self.fires else "stays silent"
        return f"{self.alert} {verb} {self.told}"

    def test(self) -> dict[str, object]:
        """One entry of promtool's `tests`."""
        matchers = {"alertname": self.alert, "alertstate": "firing", **self.labels}
        chosen = ",".join(f'{key}="{value}"' for key, value in matchers.items())
        return {
            "name": self.name,
            "interval": f"{self.interval}s",
            "input_series": [{"series": name, "values": values} for name, values in self.series.items()],
            "promql_expr_test": [
                {
                    "expr": f"count(ALERTS{{{chosen}}}) or vector(0)",
                    "eval_time": f"{self.at}s",
                    "exp_samples": [{"labels": "{}", "value": self.fires}],
                }
            ],
        }


def judge(folder: Path, cases: Sequence[Case]) -> dict[str, str]:
    """What promtool has to say against each case, by its name; empty where it agrees."""
    rules = {key: _rules(stack) for key, stack in {id(case.stack): case.stack for case in cases}.items()}
    files: list[str] = []
    for number, case in enumerate(cases):
        wanted = _needed(case, rules[id(case.stack)])
        (folder / f"rules-{number}.yaml").write_text(json.dumps({"groups": wanted}))
        document = {
            "rule_files": [f"rules-{number}.yaml"],
            "evaluation_interval": f"{case.tick}s",
            "tests": [case.test()],
        }
        path = folder / f"case-{number}.yaml"
        path.write_text(json.dumps(document))
        files.append(str(path))
    report = folder / "report.xml"
    done = subprocess.run(
        [promtool(), "test", "rules", f"--junit={report}", *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert report.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, str] = {}
    for case, suite in zip(cases, ElementTree.parse(report).getroot().iter("testsuite"), strict=True):  # noqa: S314
        found[case.name] = "\n".join(node.text or "" for node in suite.iter("failure"))
    return found


def _rules(stack: Settings) -> Rules:
    groups: list[Mapping[str, Any]] = [
        *platform_groups(stack),
        *(model_group(stack, model) for model in stack.models),
    ]
    return [(group["name"], rule) for group in groups for rule in group["rules"]]


def _needed(case: Case, rules: Rules) -> list[dict[str, object]]:
    """The alert, and the records that it is computed from: the other rules would only cost time."""
    read = [rule["expr"] for _, rule in rules if rule.get("alert") == case.alert]
    for expr in read:  # grows while it is read
        read += [
            rule["expr"]
            for _, rule in rules
            if "record" in rule and rule["record"] in expr and rule["expr"] not in read
        ]
    kept: dict[str, list[Mapping[str, Any]]] = {}
    for group, rule in rules:
        if rule.get("alert") == case.alert or ("record" in rule and rule["expr"] in read):
            kept.setdefault(group, []).append(rule)
    return [{"name": group, "interval": f"{case.tick}s", "rules": found} for group, found in kept.items()]
