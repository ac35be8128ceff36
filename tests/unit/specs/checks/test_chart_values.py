"""Chart values that would undo what the program rests on are refused; near twins pass, other overrides are told."""

from __future__ import annotations

from typing import Any

import pytest

from specs.checks import Findings
from tests.unit.specs.checks.test_refusals import base, examined, model

REGION = {"name": "AWS_REGION", "value": "us-east-1"}
ALL = {"operator": "Exists"}
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def judged(part: str, values: dict[str, Any], **more: Any) -> Findings:
    config = base()
    config["headroom:platform"] = {part: {"values": values, **more}}
    return examined(config)


def spec(**values: Any) -> dict[str, Any]:
    return {"prometheus": {"prometheusSpec": values}}


CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "karpenter",
        {"settings": {"clusterName": "other"}},
        "settings.clusterName",
        {"settings": {"batchIdleDuration": "2s"}},
    ),
    (
        "karpenter",
        {"settings": {"interruptionQueue": ""}},
        "settings.interruptionQueue",
        {"settings": {"vmMemoryOverheadPercent": 0.08}},
    ),
    ("karpenter", {"settings": None}, "settings", {"logLevel": "debug"}),
    (
        "karpenter",
        {"settings": {"featureGates": {"reservedCapacity": False}}},
        "settings.featureGates.reservedCapacity",
        {"settings": {"featureGates": {"spotToSpotConsolidation": True}}},
    ),
    (
        "karpenter",
        {"serviceAccount": {"name": "mine"}},
        "serviceAccount.name",
        {"serviceAccount": {"name": "karpenter"}},
    ),
    (
        "karpenter",
        {"serviceMonitor": {"enabled": False}},
        "serviceMonitor.enabled",
        {"serviceMonitor": {"enabled": True}},
    ),
    (
        "karpenter",
        {"controller": {"env": [{"name": "A", "value": "b"}]}},
        "controller.env",
        {"controller": {"env": [REGION, {"name": "A", "value": "b"}]}},
    ),
    (
        "karpenter",
        {"controller": {"env": None}},
        "controller.env",
        {"controller": {"resources": {"requests": {"cpu": "1"}}}},
    ),
    ("keda", {"watchNamespace": "default"}, "watchNamespace", {"watchNamespace": "default,llm-serving"}),
    ("keda", {"watchNamespace": ["llm-serving"]}, "watchNamespace", {"watchNamespace": ""}),
    ("keda", {"crds": {"install": False}}, "crds.install", {"crds": {"additionalAnnotations": {"a": "b"}}}),
    ("keda", {"operator": {"name": "scaler"}}, "operator.name", {"operator": {"replicaCount": 3}}),
    (
        "keda",
        {"prometheus": {"operator": {"port": 9090}}},
        "prometheus.operator.port",
        {"prometheus": {"operator": {"port": 8080}}},
    ),
    ("keda", {"prometheus": None}, "prometheus", {"prometheus": {"webhooks": {"enabled": True}}}),
    (
        "prometheus",
        {"prometheus": {"enabled": False}},
        "prometheus.enabled",
        {"alertmanager": {"enabled": False}},
    ),
    (
        "prometheus",
        spec(podMonitorSelectorNilUsesHelmValues=True),
        "prometheus.prometheusSpec.podMonitorSelectorNilUsesHelmValues",
        spec(podMonitorSelectorNilUsesHelmValues=False),
    ),
    (
        "prometheus",
        spec(podMonitorSelector={"matchLabels": {"release": "x"}}),
        "prometheus.prometheusSpec.podMonitorSelector",
        spec(podMonitorSelector={}),
    ),
    (
        "prometheus",
        spec(ruleNamespaceSelector={"matchLabels": {"a": "b"}}),
        "prometheus.prometheusSpec.ruleNamespaceSelector",
        spec(ruleNamespaceSelector=None),
    ),
    ("prometheus", spec(retention="7d"), "prometheus.prometheusSpec.retention", spec(retention="4w")),
    ("prometheus", spec(retention=""), "prometheus.prometheusSpec.retention", spec(retention="1w1d")),
    (
        "prometheus",
        spec(routePrefix="/prometheus"),
        "prometheus.prometheusSpec.routePrefix",
        spec(externalUrl="https://prometheus.example.com"),
    ),
    (
        "prometheus",
        {"prometheusOperator": {"namespaces": {"releaseNamespace": True}}},
        "prometheusOperator.namespaces",
        {"prometheusOperator": {"logLevel": "debug"}},
    ),
    ("loadBalancerController", {"clusterName": "other"}, "clusterName", {"logLevel": "debug"}),
    ("loadBalancerController", {"enableWafv2": True}, "enableWafv2", {"enableWafv2": False}),
    (
        "gpuMetrics",
        {"tolerations": [{"key": "team", "operator": "Exists"}]},
        "tolerations",
        {"tolerations": [ALL]},
    ),
    ("gpuMetrics", {"tolerations": None}, "tolerations", {"tolerations": [GPU]}),
    (
        "gpuMetrics",
        {"serviceMonitor": {"enabled": False}},
        "serviceMonitor.enabled",
        {"serviceMonitor": {"interval": "30s"}},
    ),
    (
        "gpuPlugin",
        {"affinity": {"nodeAffinity": None}},
        "affinity.nodeAffinity",
        {"affinity": {"podAntiAffinity": {}}},
    ),
]
IDS = [f"{part}.{path} {index}" for index, (part, _, path, _) in enumerate(CASES)]


@pytest.mark.parametrize(("part", "values", "path", "_twin"), CASES, ids=IDS)
def test_what_undoes_a_guarantee_is_refused_at_its_path(
    part: str, values: dict[str, Any], path: str, _twin: dict[str, Any]
) -> None:
    problems = judged(part, values).problems
    assert {problem.path for problem in problems} == {f"platform.{part}.values.{path}"}
    assert all(f"leave {path} out" in problem.fix for problem in problems)


@pytest.mark.parametrize(("part", "_values", "path", "twin"), CASES, ids=IDS)
def test_the_near_twin_is_accepted_in_silence(
    part: str, _values: dict[str, Any], path: str, twin: dict[str, Any]
) -> None:
    found = judged(part, twin)
    assert found.problems == []
    assert [warning for warning in found.warnings if f".{part}.values" in warning.path] == []


def test_values_of_a_part_that_is_not_installed_do_nothing() -> None:
    assert judged("karpenter", {"settings": {"clusterName": "other"}}, install=False).problems == []


def test_name_queue_and_account_of_an_existing_cluster_are_its_owners() -> None:
    config = base()
    config["headroom:cluster"] = {"mode": "existing"}
    config["headroom:weights"] = {"backend": "hub"}
    theirs = {
        "settings": {"clusterName": "theirs", "interruptionQueue": "theirs"},
        "serviceAccount": {"name": "theirs"},
    }
    config["headroom:platform"] = {"karpenter": {"values": theirs}}
    found = examined(config)
    assert found.problems == []
    assert not [warning for warning in found.warnings if ".values" in warning.path]


def test_the_gate_of_warm_spares_is_free_without_any() -> None:
    values = {"settings": {"featureGates": {"capacityBuffer": False}}}
    assert judged("karpenter", values).problems == []
    config = base()
    model("scaling", value={"warmSpares": 1})(config)
    config["headroom:platform"] = {"karpenter": {"values": values}}
    assert [problem.path for problem in examined(config).problems] == [
        "platform.karpenter.values.settings.featureGates.capacityBuffer"
    ]


@pytest.mark.parametrize(
    ("part", "values", "path"),
    [
        ("keda", {"nodeSelector": {"headroom.dev/role": "infra"}}, "nodeSelector.headroom.dev/role"),
        ("prometheus", spec(storageSpec=None), "prometheus.prometheusSpec.storageSpec"),
        ("loadBalancerController", {"enableServiceMutatorWebhook": True}, "enableServiceMutatorWebhook"),
    ],
)
def test_another_value_that_the_program_sets_is_told(part: str, values: dict[str, Any], path: str) -> None:
    found = judged(part, values)
    assert found.problems == []
    (warning,) = [warning for warning in found.warnings if f".{part}.values" in warning.path]
    assert warning.path == f"platform.{part}.values.{path}"
    assert "the program's own value here" in warning.allowed


def test_a_secret_among_the_values_is_not_what_the_message_is_about() -> None:
    values = {"grafana": {"adminPassword": "hunter2"}, "prometheus": {"enabled": False}}
    assert "hunter2" not in "".join(map(str, judged("prometheus", values).problems))
