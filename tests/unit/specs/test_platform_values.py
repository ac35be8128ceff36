"""Chart values of Prometheus, the GPU exporter and KEDA (KD21, KP9)."""

from __future__ import annotations

import pytest

from specs.platform_values import (
    RETENTION_DAYS,
    gpu_metrics_values,
    keda_values,
    prometheus_values,
)
from specs.quantity import GIBI, parse_bytes
from specs.settings import Settings
from tests.unit.specs.stack import POOLS, dig, settings

SYSTEM = {"headroom.dev/role": "system"}


def existing() -> Settings:
    return settings({}, cluster={"mode": "existing"}, weights={"backend": "hub"})


@pytest.mark.parametrize("kind", ["podMonitor", "serviceMonitor", "rule", "probe", "scrapeConfig"])
def test_monitors_and_rules_count_whatever_their_labels(kind: str) -> None:
    """KD21: the chart's default wants label release=<name>."""
    spec = dig(prometheus_values(settings()), "prometheus", "prometheusSpec")
    assert spec[f"{kind}SelectorNilUsesHelmValues"] is False
    assert f"{kind}Selector" not in spec
    assert f"{kind}NamespaceSelector" not in spec


def test_prometheus_remembers_the_week_the_forecast_compares_with() -> None:
    assert RETENTION_DAYS > 8
    assert dig(prometheus_values(settings()), "prometheus", "prometheusSpec", "retention") == "15d"


def test_the_history_is_on_a_disk_that_is_larger_and_goes_with_the_stack() -> None:
    spec = dig(prometheus_values(settings()), "prometheus", "prometheusSpec")
    claim = dig(spec, "storageSpec", "volumeClaimTemplate", "spec")
    kept = int(spec["retentionSize"].removesuffix("GiB")) * GIBI
    assert parse_bytes(claim["resources"]["requests"]["storage"]) > kept
    assert spec["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"


def test_an_existing_cluster_is_not_asked_for_a_disk() -> None:
    assert "storageSpec" not in dig(prometheus_values(existing()), "prometheus", "prometheusSpec")


@pytest.mark.parametrize(
    "path",
    [
        ("prometheus", "prometheusSpec"),
        ("prometheusOperator",),
        ("prometheusOperator", "admissionWebhooks", "patch"),
        ("alertmanager", "alertmanagerSpec"),
        ("grafana",),
        ("kube-state-metrics",),
    ],
)
def test_every_part_of_prometheus_stays_on_the_system_nodes(path: tuple[str, ...]) -> None:
    assert dig(prometheus_values(settings()), *path, "nodeSelector") == SYSTEM
    assert dig(prometheus_values(existing()), *path, "nodeSelector") == {}


def test_what_eks_hides_is_neither_scraped_nor_alerted_on() -> None:
    values = prometheus_values(settings())
    for part in ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy"):
        assert dig(values, part, "enabled") is False
    assert not any(dig(values, "defaultRules", "rules").values())
    assert "kubeScheduler" not in prometheus_values(existing())


def test_the_gpu_exporter_tolerates_every_pools_taints_on_gpu_nodes_only() -> None:
    """KP9."""
    team = {"key": "team", "value": "vision", "effect": "NoExecute"}
    found = settings({}, gpuPools=[POOLS[0], POOLS[1] | {"taints": [team]}])
    values = gpu_metrics_values(found)
    tolerated = {(each["key"], each["value"], each["effect"]) for each in dig(values, "tolerations")}
    assert tolerated == {("nvidia.com/gpu", "true", "NoSchedule"), ("team", "vision", "NoExecute")}
    assert values["nodeSelector"] == {"nvidia.com/gpu.present": "true"}


def test_the_node_exporter_runs_on_every_node_whatever_its_taints() -> None:
    """KP9: the chart's default tolerates NoSchedule alone, and an upgrade replaces a list as a whole."""
    tolerations = dig(prometheus_values(settings()), "prometheus-node-exporter", "tolerations")
    assert tolerations == [
        {"effect": "NoSchedule", "operator": "Exists"},
        {"effect": "NoExecute", "operator": "Exists"},
    ]


def test_keda_survives_the_drain_of_a_node() -> None:
    values = keda_values(settings())
    for part in ("operator", "metricsServer"):
        assert dig(values, part, "replicaCount") == 2
    for part in ("operator", "metricServer"):
        assert dig(values, "podDisruptionBudget", part) == {"maxUnavailable": 1}
    assert values["nodeSelector"] == SYSTEM
    assert keda_values(existing())["nodeSelector"] == {}


def test_everything_installed_states_what_it_needs() -> None:
    values = prometheus_values(settings())
    parts = [
        dig(values, "prometheus", "prometheusSpec"),
        values["prometheusOperator"],
        dig(values, "alertmanager", "alertmanagerSpec"),
        values["grafana"],
        values["kube-state-metrics"],
        values["prometheus-node-exporter"],
        gpu_metrics_values(settings()),
    ]
    sizes = [dig(part, "resources") for part in parts]
    sizes += dig(keda_values(settings()), "resources").values()
    assert all({"cpu", "memory"} <= size["requests"].keys() and "memory" in size["limits"] for size in sizes)
