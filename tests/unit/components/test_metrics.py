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
    assert seen == {"address": "http://prometheus-operated.monitoring.svc:9090", "ready": 2}


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
