"""The dashboards as ConfigMaps: Grafana's sidecar loads every one that bears its label, in any namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from specs.alerts.rules import namespace
from specs.dashboards import engines, nodes, scaling, slo
from specs.dashboards.dashboard import Dashboard
from specs.settings.stack import Settings

SIDECAR_LABEL: Final = {"grafana_dashboard": "1"}
"""kube-prometheus-stack's grafana.sidecar.dashboards.label and labelValue."""


def dashboards(settings: Settings) -> Sequence[Dashboard]:
    """All of them, the first place to look first."""
    return (
        scaling.dashboard(),
        engines.dashboard(),
        nodes.dashboard(settings),
        slo.dashboard(),
    )


@dataclass(frozen=True)
class ConfigMap:
    """One dashboard as a ConfigMap; `logical` is its name in the state."""

    logical: str
    name: str
    namespace: str
    labels: Mapping[str, str]
    data: Mapping[str, str]


def config_maps(settings: Settings) -> Sequence[ConfigMap]:
    """One ConfigMap a dashboard."""
    return [
        ConfigMap(
            logical=f"dashboard-{found.name}",
            name=f"headroom-dashboard-{found.name}",
            namespace=namespace(settings),
            labels={**SIDECAR_LABEL, "app.kubernetes.io/part-of": "headroom"},
            data={f"{found.uid}.json": found.text(settings.platform.prometheus.scrape_seconds)},
        )
        for found in dashboards(settings)
    ]
