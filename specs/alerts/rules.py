"""The rule groups as Kubernetes and Prometheus take them: a model's own, and those of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs.alerts import autoscaler, controllers, cost, demand, forecast, nodes, slo
from specs.alerts.alert import Alert, group
from specs.forecast import RULE_SECONDS, Rule
from specs.metrics_names import recorded_labels
from specs.names import KARPENTER_NAMESPACE, METRICS_NAMESPACE
from specs.promql import render
from specs.settings.model import Model
from specs.settings.stack import Settings

NAME: Final = "headroom"
PRICE_SECONDS: Final = 60


def namespace(settings: Settings) -> str:
    """Where rules and dashboards of the platform stand: beside the Prometheus that the program installs, else in a
    namespace that every cluster has.
    """
    return METRICS_NAMESPACE if settings.platform.prometheus.install else KARPENTER_NAMESPACE


def model_alerts(settings: Settings, model: Model) -> Sequence[Alert]:
    """Every alert about one model alone."""
    return (
        *slo.alerts(model),
        *demand.alerts(settings, model),
        *autoscaler.alerts(settings, model),
        *forecast.alerts(model),
    )


def platform_alerts(settings: Settings) -> Sequence[Alert]:
    """Every alert about what the models share."""
    return (*controllers.alerts(settings), *nodes.alerts(settings), *cost.alerts(settings))


def model_group(settings: Settings, model: Model) -> dict[str, object]:
    """The model's alerts, after what they are computed from."""
    records: tuple[Rule, ...] = (*slo.records(model), *forecast.records(settings, model))
    labels = dict(recorded_labels(model))
    rules: list[dict[str, object]] = [
        {"record": rule.record, "expr": render(rule.expr), "labels": labels} for rule in records
    ]
    rules += [alert.rule() for alert in model_alerts(settings, model)]
    return group(f"headroom-{model.namespace}-{model.name}-alerts", rules, RULE_SECONDS)


def platform_groups(settings: Settings) -> Sequence[dict[str, object]]:
    """Prices and costs first, which an alert reads."""
    return (
        group(f"{controllers.GROUPS}cost", cost.records(settings), PRICE_SECONDS),
        group(
            f"{controllers.GROUPS}platform",
            [alert.rule() for alert in platform_alerts(settings)],
            RULE_SECONDS,
        ),
    )


def platform_rule(settings: Settings) -> dict[str, object]:
    """The PrometheusRule body of the platform."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": NAME,
            "namespace": namespace(settings),
            "labels": {"app.kubernetes.io/part-of": "headroom"},
        },
        "spec": {"groups": list(platform_groups(settings))},
    }
