"""Every alert in the real Prometheus rule engine: it fires when it should, and its near twin does not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from specs.alerts.rules import model_alerts, model_group, platform_alerts, platform_groups
from tests.unit.specs.alerts import cases_model, cases_platform
from tests.unit.specs.alerts.promtool import Case, judge
from tests.unit.specs.promql.reference import promtool

CASES = (*cases_model.CASES, *cases_platform.CASES)
STACK = cases_platform.PRICED


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All cases in one process."""
    return judge(tmp_path_factory.mktemp("alerts"), CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prometheus_agrees(case: Case, verdicts: dict[str, str]) -> None:
    assert not verdicts[case.name]


@pytest.mark.parametrize("fires", [True, False], ids=["fires", "stays silent"])
def test_every_alert_has_such_a_case(fires: bool) -> None:
    every = [
        *platform_alerts(STACK),
        *(alert for model in STACK.models for alert in model_alerts(STACK, model)),
    ]
    shown = {case.alert for case in CASES if bool(case.fires) == fires}
    assert shown == {alert.name for alert in every}


def test_prometheus_takes_every_rule_and_template(tmp_path: Path) -> None:
    groups = [*platform_groups(STACK), *(model_group(STACK, model) for model in STACK.models)]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": groups}))
    argv = [promtool(), "check", "rules", "--lint=all", "--lint-fatal", str(tmp_path / "rules.yaml")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
