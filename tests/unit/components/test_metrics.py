"""Metrics: installed, or what the cluster has."""

from __future__ import annotations

from typing import Any

from components.metrics import Metrics, MetricsArgs
from specs.settings import Settings
from tests.unit.components.recording import Recording, namespaces, provider, record, release
from tests.unit.specs.stack import dig, settings

THERE: dict[str, Any] = {
    "prometheus": {"install": False, "address": "http://prometheus.observability.svc:9090", "tenant": "llm"},
    "gpuMetrics": {"install": False},
}


def declared(found: Settings) -> tuple[Recording, dict[str, Any]]:
    seen: dict[str, Any] = {}

    def program() -> None:
        using = provider()
        nodes = release("nodes", using)
        metrics = Metrics(
            "metrics",
            MetricsArgs(
                settings=found,
                provider=using,
                namespaces=namespaces("monitoring", "gpu-system", using=using),
                ready=[nodes],
            ),
        )
        seen.update(address=metrics.prometheus_address, ready=len(metrics.ready))

    return record(program), seen


def test_prometheus_and_the_gpu_exporter_are_installed_in_their_namespaces() -> None:
    found, seen = declared(settings())
    prometheus, exporter = found.one("Release", "prometheus"), found.one("Release", "gpu-metrics")
    assert prometheus.inputs["namespace"] == "monitoring"
    assert exporter.inputs["namespace"] == "gpu-system"
    assert {"Namespace monitoring", "Release nodes"} <= found.waits_for(prometheus)
    assert {"Namespace gpu-system", "Release prometheus"} <= found.waits_for(exporter)
    assert seen == {"address": "http://prometheus-operated.monitoring.svc:9090", "ready": 1}


def test_the_stacks_own_values_win() -> None:
    own = {"prometheus": {"prometheusSpec": {"retention": "30d"}}}
    found, _ = declared(settings({}, platform={"prometheus": {"values": own}}))
    spec = dig(found.one("Release", "prometheus").inputs, "values", "prometheus", "prometheusSpec")
    assert spec["retention"] == "30d"
    assert spec["podMonitorSelectorNilUsesHelmValues"] is False


def test_charts_come_from_the_mirror_of_an_air_gapped_cluster() -> None:
    mirror = {"chartSource": "oci://registry.example.com/charts"}
    found, _ = declared(settings({}, platform=mirror))
    charts = {entry.inputs["chart"] for entry in found.all("Release") if "Metrics$" in entry.urn}
    assert charts == {
        "oci://registry.example.com/charts/kube-prometheus-stack",
        "oci://registry.example.com/charts/dcgm-exporter",
    }


def test_an_existing_prometheus_is_asked_and_nothing_is_installed() -> None:
    found, seen = declared(settings({}, platform=THERE))
    assert [entry.name for entry in found.all("Release")] == ["nodes"]
    assert seen == {"address": "http://prometheus.observability.svc:9090", "ready": 1}


def test_dashboards_and_alerts_wait_for_the_operator_and_its_namespace() -> None:
    found, _ = declared(settings())
    shown = [*found.all("ConfigMap"), found.one("PrometheusRule"), found.one("PodMonitor")]
    assert len(shown) == 6
    for entry in shown:
        assert entry.inputs["metadata"]["namespace"] == "monitoring"
        assert {"Namespace monitoring", "Release prometheus"} <= found.waits_for(entry)


def test_on_a_cluster_with_its_own_prometheus_they_stand_in_a_namespace_that_is_there() -> None:
    found, _ = declared(settings({}, platform=THERE))
    for entry in (*found.all("ConfigMap"), found.one("PrometheusRule")):
        assert entry.inputs["metadata"]["namespace"] == "kube-system"


def test_a_keda_that_was_there_before_is_not_scraped_twice() -> None:
    found, _ = declared(settings({}, platform={"keda": {"install": False}}))
    assert not found.all("PodMonitor")
