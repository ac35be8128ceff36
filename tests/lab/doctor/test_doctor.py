"""Autoscaling that is off is found, by its cause, on real controllers; mended, all is well again."""

import json
import subprocess
import sys

import pytest

from tests.lab.doctor import breaks
from tests.lab.doctor.breaks import ASLEEP, MODEL, Break
from tests.lab.doctor.ward import Ward
from tests.lab.runbook.blocks import PROJECT

MODELS = (MODEL, ASLEEP)


def each(*checks: str) -> set[str]:
    return {f"{model}/{check}" for model in MODELS for check in checks}


BLIND = each("hpa-reads", "fallback", "hpa-active", "scaled-object")
"""What may follow while no trigger can be read: KEDA's fallback first, then the HPA's own conditions."""
CASES: dict[str, tuple[Break, set[str], set[str]]] = {
    "grace": (breaks.short_grace, {f"{ASLEEP}/drain:engine"}, set()),
    "toleration": (breaks.no_toleration, {f"{ASLEEP}/tolerations"}, set()),
    "replicas": (breaks.owned, {f"{ASLEEP}/replicas-owner"}, set()),
    "second budget": (breaks.second_budget, {f"{MODEL}/pdb:engine"}, set()),
    "limit": (breaks.low_limit, {"inference/gpu-limit"}, set()),
    "trigger": (breaks.old_threshold, {f"{MODEL}/triggers-spec"}, set()),
    "second HPA": (breaks.another, {f"{ASLEEP}/hpa-alone"}, {f"{ASLEEP}/hpa-active"}),
    "monitor": (
        breaks.no_monitor,
        {f"{ASLEEP}/targets:router"},
        {f"{ASLEEP}/{check}" for check in ("signal-at-zero", "series", "trigger:offered", *BLIND)},
    ),
    "rules": (breaks.no_rules, {f"{MODEL}/rules"}, {f"{MODEL}/series"}),
    "paused": (breaks.paused, {f"{MODEL}/not-paused", f"{MODEL}/hpa"}, set()),
    "HPA controller": (breaks.no_hpa_controller, {"stack/hpa-controller"}, set()),
    "KEDA": (breaks.no_keda, {"stack/keda", *each("hpa-reads")}, BLIND),
    "Prometheus": (breaks.no_prometheus, {"stack/prometheus"}, BLIND),
}
"""How it is broken; what fails then; what may fail of it too."""


def test_a_stack_that_has_come_up_is_well(ward: Ward) -> None:
    found = ward.until(lambda found: found.verdict == "pass")
    assert found.counts["pass"] > 50


@pytest.mark.parametrize("name", CASES)
def test_what_is_broken_is_found_and_well_once_it_is_mended(ward: Ward, name: str) -> None:
    broken, fails, follows = CASES[name]
    with broken(ward.plane, ward.client):
        ward.until(lambda found: fails <= ward.failing(found) <= fails | follows)
    ward.until(lambda found: found.verdict == "pass")


def test_the_command_tells_the_same_and_its_status(ward: Ward) -> None:
    words = ["doctor", "--state", str(ward.plane.state_dir), "--json"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cli", *words], cwd=PROJECT, capture_output=True, text=True, check=False
        )

    well = run()
    assert (well.returncode, json.loads(well.stdout)["verdict"]) == (0, "pass"), well.stderr
    with breaks.short_grace(ward.plane, ward.client):
        broken = run()
    assert (broken.returncode, json.loads(broken.stdout)["verdict"]) == (1, "fail")
    ward.until(lambda found: found.verdict == "pass")
