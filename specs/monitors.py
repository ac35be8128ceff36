"""What Prometheus scrapes of a model, its engines and its routers, and of KEDA."""

from __future__ import annotations

from typing import Final, Literal

from specs.labels import selector
from specs.metrics_names import MODEL_LABEL
from specs.names import KEDA_NAMESPACE, KEDA_OPERATOR
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

LONGEST_SCRAPE_SECONDS: Final = 10
"""An engine with a full cache took 4 to 10 s to answer (measured on vLLM 0.32)."""
UNREAD: Final = "(python_.*|.*_created)"
"""Series nobody reads: half of an engine's 581 lines are `_created` times and the interpreter's own."""
KEDA_METRICS_PORT: Final = 8080
"""prometheus.operator.port of KEDA's chart; its name differs between chart versions."""
KEDA_SCRAPE_SECONDS: Final = 15
PORTS: Final[dict[str, str]] = {"engine": "http", "router": "metrics"}


def pod_monitor(settings: Settings, model: Model, part: Literal["engine", "router"]) -> dict[str, object]:
    """The PodMonitor of one part. Each series gets the model's name: the router's have no label for it."""
    interval = settings.platform.prometheus.scrape_seconds
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": metadata(model, f"{model.name}-{part}", part),
        "spec": {
            "selector": {"matchLabels": selector(model, part)},
            "podMetricsEndpoints": [
                {
                    "port": PORTS[part],
                    "path": "/metrics",
                    "interval": f"{interval}s",
                    # Prometheus refuses a timeout longer than the interval.
                    "scrapeTimeout": f"{min(interval, LONGEST_SCRAPE_SECONDS)}s",
                    "relabelings": [
                        {"action": "replace", "targetLabel": MODEL_LABEL, "replacement": model.name}
                    ],
                    "metricRelabelings": [{"action": "drop", "sourceLabels": ["__name__"], "regex": UNREAD}],
                }
            ],
        },
    }


def keda_pod_monitor(namespace: str) -> dict[str, object]:
    """The PodMonitor of the KEDA operator, standing in `namespace`.

    KEDA's own label `namespace` is the ScaledObject's and is kept: the chart's monitors would rename it. They would
    also have to wait for the Prometheus operator's CRDs, while KEDA needs no Prometheus to start.
    """
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {
            "name": KEDA_OPERATOR,
            "namespace": namespace,
            "labels": {"app.kubernetes.io/part-of": "headroom"},
        },
        "spec": {
            "namespaceSelector": {"matchNames": [KEDA_NAMESPACE]},
            "selector": {"matchLabels": {"app.kubernetes.io/name": KEDA_OPERATOR}},
            "podMetricsEndpoints": [
                {
                    "portNumber": KEDA_METRICS_PORT,
                    "path": "/metrics",
                    "interval": f"{KEDA_SCRAPE_SECONDS}s",
                    "honorLabels": True,
                }
            ],
        },
    }
