"""Warm spares: a node, and the image on it."""

from __future__ import annotations

from typing import Any

import pytest

from specs.engine_pod import engine_pod
from specs.fit import DAEMONSET_CPU_MILLI
from specs.quantity import parse_cpu
from specs.warm import capacity_buffer, image_puller
from tests.unit.specs.stack import container, dig, only, settings

SPARE: dict[str, Any] = {"scaling": {"warmSpares": 2}}


def puller() -> Any:
    found = settings(SPARE)
    return dig(image_puller(found, only(found)), "spec", "template")


def test_without_spares_there_is_neither_buffer_nor_puller() -> None:
    found = settings()
    assert capacity_buffer(only(found)) is None
    assert image_puller(found, only(found)) is None


def test_the_buffer_has_the_shape_of_the_engines_and_states_its_size() -> None:
    body = capacity_buffer(only(settings(SPARE)))
    assert dig(body, "apiVersion") == "autoscaling.x-k8s.io/v1beta1"
    assert dig(body, "spec", "scalableRef") == {"apiGroup": "apps", "kind": "Deployment", "name": "llama3-8b"}
    assert dig(body, "spec", "replicas") == 2
    assert "podTemplateRef" not in dig(body, "spec")


def test_the_image_is_kept_on_the_nodes_where_engines_may_run() -> None:
    found = settings(SPARE)
    engine = engine_pod(found, only(found))
    for where in ("nodeSelector", "affinity", "tolerations"):
        assert dig(puller(), "spec", where) == dig(engine, "spec", where)
    assert container(puller())["image"] == container(engine)["image"]


def test_the_puller_neither_asks_for_nor_sees_a_gpu() -> None:
    idle = container(puller())
    assert not any("gpu" in name for side in idle["resources"].values() for name in side)
    assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in idle["env"]
    assert idle["command"][0] == "sh"


def test_the_puller_fits_into_what_is_set_aside_for_daemonsets() -> None:
    assert parse_cpu(container(puller())["resources"]["requests"]["cpu"]) * 10 <= DAEMONSET_CPU_MILLI


@pytest.mark.parametrize("least", [0, 1])
def test_nobody_waits_for_the_puller(least: int) -> None:
    found = settings(SPARE | {"replicas": {"min": least, "max": 2}, "ingress": {"enabled": False}})
    assert dig(image_puller(found, only(found)), "metadata", "annotations", "pulumi.com/skipAwait") == "true"
