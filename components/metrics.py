"""Metrics: Prometheus with its operator, and the GPU exporter; or the Prometheus that is there already. On either
the dashboards, the platform's alerts, and KEDA as a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.release import release
from specs import charts, monitors, versions
from specs.alerts.rules import namespace, platform_rule
from specs.dashboards.config_maps import config_maps
from specs.names import GPU_NAMESPACE, METRICS_NAMESPACE
from specs.platform_values import gpu_metrics_values, prometheus_values
from specs.scaling import server_address
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class MetricsArgs:
    """`namespaces` by name; `ready`: system nodes and add-ons."""

    settings: Settings
    provider: k8s.Provider
    namespaces: Mapping[str, k8s.core.v1.Namespace]
    ready: Sequence[pulumi.Resource]


class Metrics(pulumi.ComponentResource):
    """`ready` is what PodMonitors and rules need: the release of the operator and its CRDs, which itself waits for
    nodes and add-ons; or these, where Prometheus is there already. `prometheus_address` is where KEDA asks."""

    ready: Sequence[pulumi.Resource]
    prometheus_address: str

    def __init__(self, name: str, args: MetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Metrics", name, None, opts)
        self._args = args
        platform = args.settings.platform
        self.ready = [self._prometheus()] if platform.prometheus.install else args.ready
        if platform.gpu_metrics.install:
            self._gpu_metrics()
        self._shown()
        self.prometheus_address = server_address(args.settings)
        self.register_outputs({"prometheusAddress": self.prometheus_address})

    def _prometheus(self) -> pulumi.Resource:
        settings = self._args.settings
        spec = charts.release(
            settings,
            versions.PROMETHEUS,
            settings.platform.prometheus,
            METRICS_NAMESPACE,
            prometheus_values(settings),
        )
        return release("prometheus", spec, self._after(METRICS_NAMESPACE, self._args.ready))

    def _gpu_metrics(self) -> pulumi.Resource:
        settings = self._args.settings
        spec = charts.release(
            settings,
            versions.GPU_METRICS,
            settings.platform.gpu_metrics,
            GPU_NAMESPACE,
            gpu_metrics_values(settings),
        )
        # Its ServiceMonitor needs the operator's CRDs.
        return release("gpu-metrics", spec, self._after(GPU_NAMESPACE, self.ready))

    def _shown(self) -> None:
        """What people look at and are woken by; nothing waits for it."""
        settings, where = self._args.settings, namespace(self._args.settings)
        opts = self._after(where, self.ready)
        for found in config_maps(settings):
            k8s.core.v1.ConfigMap(
                found.logical,
                metadata={"name": found.name, "namespace": found.namespace, "labels": found.labels},
                data=found.data,
                opts=opts,
            )
        self._custom("alerts", platform_rule(settings), opts)
        if settings.platform.keda.install:
            self._custom("keda", monitors.keda_pod_monitor(where), opts)

    def _custom(self, name: str, body: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        k8s.apiextensions.CustomResource(
            name,
            api_version=body["apiVersion"],
            kind=body["kind"],
            metadata=body["metadata"],
            spec=body["spec"],
            opts=opts,
        )

    def _after(self, namespace: str, ready: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        declared = self._args.namespaces.get(namespace)
        return pulumi.ResourceOptions(
            parent=self,
            provider=self._args.provider,
            depends_on=[*ready, *([declared] if declared else [])],
        )
