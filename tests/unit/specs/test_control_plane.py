"""The cluster's plain values."""

from __future__ import annotations

from typing import Any

import pytest

from specs import control_plane
from specs.settings import Settings
from tests.unit.specs.stack import settings

LEVEL = "pod-security.kubernetes.io/enforce"
GATE = "elbv2.k8s.aws/pod-readiness-gate-inject"
NOTHING: dict[str, Any] = {
    part: {"install": False}
    for part in ("keda", "gpuPlugin", "gpuMetrics", "loadBalancerController", "karpenter")
}
NOTHING["prometheus"] = {"install": False, "address": "http://prometheus.example.com:9090"}


def served(enabled: bool, **sections: Any) -> Settings:
    return settings({"ingress": {"enabled": enabled}}, **sections)


@pytest.mark.parametrize(
    ("instance_type", "image"),
    [
        ("m7i.large", "AL2023_x86_64_STANDARD"),
        ("m7g.large", "AL2023_ARM_64_STANDARD"),
        ("c7gn.xlarge", "AL2023_ARM_64_STANDARD"),
        ("t4g.large", "AL2023_ARM_64_STANDARD"),
        ("m6a.large", "AL2023_x86_64_STANDARD"),
        ("r6id.xlarge", "AL2023_x86_64_STANDARD"),
        ("m7i-flex.large", "AL2023_x86_64_STANDARD"),
    ],
)
def test_the_machine_image_follows_the_processor(instance_type: str, image: str) -> None:
    """The SDK's default is AL2, which EKS no longer has."""
    assert control_plane.system_ami_type((instance_type,)) == image


def test_the_default_sync_period_is_left_to_kubernetes() -> None:
    assert control_plane.hpa_sync(settings({}, cluster={"hpaSyncSeconds": 15})) is None


def test_a_shorter_sync_period_is_set_on_the_controller_manager() -> None:
    assert control_plane.hpa_sync(settings({}, cluster={"hpaSyncSeconds": 10})) == {
        "horizontalPodAutoscalerControllerConfig": {"horizontalPodAutoscalerSyncPeriod": "10s"}
    }


def test_every_kind_of_control_plane_log_is_kept() -> None:
    assert set(control_plane.LOG_TYPES) == {"api", "audit", "authenticator", "controllerManager", "scheduler"}


def test_models_share_a_namespace_and_run_restricted() -> None:
    few = {"replicas": {"min": 1, "max": 2}}
    found = settings({"name": "a", **few}, {"name": "b", **few}, {"name": "c", "namespace": "other", **few})
    levels = {name: labels[LEVEL] for name, labels in control_plane.namespaces(found).items()}
    assert levels == {
        "gpu-system": "privileged",
        "keda": "restricted",
        "llm-serving": "restricted",
        "monitoring": "privileged",
        "other": "restricted",
    }


def test_where_more_is_admitted_the_audit_log_tells_what_needs_it() -> None:
    for labels in control_plane.namespaces(settings()).values():
        assert labels["pod-security.kubernetes.io/audit"] == "restricted"
        assert labels["pod-security.kubernetes.io/warn"] == "restricted"


def test_a_disabled_model_has_no_namespace() -> None:
    found = settings({"name": "a"}, {"name": "b", "namespace": "other", "enabled": False})
    assert "other" not in control_plane.namespaces(found)


def test_what_is_not_installed_has_no_namespace() -> None:
    assert set(control_plane.namespaces(served(False, platform=NOTHING))) == {"llm-serving"}


def test_a_served_models_routers_wait_for_their_target() -> None:
    assert control_plane.namespaces(served(True))["llm-serving"][GATE] == "enabled"
    assert GATE not in control_plane.namespaces(served(True))["monitoring"]


def test_without_an_ingress_nothing_waits_for_a_target() -> None:
    assert GATE not in control_plane.namespaces(served(False))["llm-serving"]
