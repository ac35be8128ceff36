"""The rules of a model as Kubernetes and Prometheus take them: demand and forecast, and its alerts."""

from __future__ import annotations

from collections.abc import Sequence

from specs.alerts.rules import model_group
from specs.forecast import RULE_SECONDS, rules
from specs.metrics_names import MODEL_LABEL, recorded_labels
from specs.promql import render
from specs.settings.model import Model
from specs.settings.stack import Settings

__all__ = ["groups", "prometheus_rule", "rules"]


def groups(settings: Settings, model: Model) -> Sequence[dict[str, object]]:
    """The group that demand is scaled on, as a Prometheus rule file takes it; none without a capacity."""
    found = rules(settings, model)
    if not found:
        return []
    return [
        {
            "name": f"headroom-{model.namespace}-{model.name}",
            "interval": f"{RULE_SECONDS}s",
            "rules": [
                {"record": rule.record, "expr": render(rule.expr), "labels": dict(recorded_labels(model))}
                for rule in found
            ],
        }
    ]


def prometheus_rule(settings: Settings, model: Model) -> dict[str, object]:
    """The PrometheusRule body of a model."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": model.name,
            "namespace": model.namespace,
            "labels": {MODEL_LABEL.replace("_", "-"): model.name},
        },
        "spec": {"groups": [*groups(settings, model), model_group(settings, model)]},
    }
