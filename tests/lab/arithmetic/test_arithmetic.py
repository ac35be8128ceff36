"""The replay's KEDA and HPA beside the real ones: the same targets and answers, the same steps."""

import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace

from lab.control.plane import down, up
from lab.control.settings import LabSettings
from lab.scenario.errors import WaitError
from lab.scenario.kinds import DEPLOYMENT, HPA, SCALED_OBJECT, condition
from lab.scenario.timeline import Timeline
from tests.lab.arithmetic.answers import prometheus
from tests.lab.arithmetic.rows import ROWS, Row, queried, scaled_object, wanted

COMPONENTS = ("controller-manager", "scheduler", "kwok", "keda-operator", "keda-adapter")
SYNC_SECONDS = 2
QUIET_SYNCS = 8
"""Longer than the longest period of a policy and than the fallback's patience."""
PATIENCE = 120.0
NAMESPACE = "arithmetic"
Steps = dict[str, list[int]]


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Generator[Steps]:
    """Replicas of every row's Deployment, each time that they changed."""
    folder = tmp_path_factory.mktemp("arithmetic") / "lab"
    answers = {query: told.value for row in ROWS for query, told in queried(row)}
    try:
        plane = up(folder, COMPONENTS, settings=LabSettings(hpa_sync_seconds=SYNC_SECONDS, system_nodes=4))
        kinds = (DEPLOYMENT, HPA)
        with (
            plane.client() as client,
            prometheus(answers) as address,
            Timeline(plane.kubeconfig, kinds) as timeline,
        ):
            client.create(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
            for row in ROWS:
                client.create(DEPLOYMENT.resource(_deployment(row)))
            timeline.until(lambda: _all_ready(timeline), PATIENCE, "every replica to be ready")
            for row in ROWS:
                client.create(SCALED_OBJECT.resource(scaled_object(row, NAMESPACE, address)))
            timeline.until(lambda: _all_read(timeline), PATIENCE, "every HPA to read its metrics")
            expected = {row.name: wanted(row, SYNC_SECONDS) for row in ROWS}
            with suppress(WaitError):  # each row's test tells what it did instead
                timeline.until(lambda: _steps(timeline) == expected, PATIENCE / 2, "the steps of the replay")
            time.sleep(QUIET_SYNCS * SYNC_SECONDS)
            yield _steps(timeline)
    finally:
        down(folder)


def _deployment(row: Row) -> dict[str, Any]:
    labels = {"app": row.name}
    container = {"name": "none", "image": "example.com/none:1"}
    return {
        "metadata": {"name": row.name, "namespace": NAMESPACE},
        "spec": {
            "replicas": row.start,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def _all_ready(timeline: Timeline) -> bool:
    known = timeline.now(DEPLOYMENT)
    return all(
        known.get((NAMESPACE, row.name), {}).get("status", {}).get("readyReplicas", 0) == row.start
        for row in ROWS
    )


def _all_read(timeline: Timeline) -> bool:
    known = timeline.now(HPA)
    return all(
        (hpa := known.get((NAMESPACE, row.name))) is not None and condition(hpa, "ScalingActive")
        for row in ROWS
    )


def _steps(timeline: Timeline) -> Steps:
    found: Steps = {row.name: [] for row in ROWS}
    for one in timeline.seen(DEPLOYMENT):
        told, replicas = found.get(one.key[1]), one.body["spec"]["replicas"]
        if told is not None and told[-1:] != [replicas]:
            told.append(replicas)
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_controllers_step_as_the_replay_does(steps: Steps, row: Row) -> None:
    assert steps[row.name] == wanted(row, SYNC_SECONDS)
