"""The ScaledObject of a model: triggers, fallback and the HPA's behaviour (KEDA 2.21, autoscaling/v2)."""

from __future__ import annotations

from specs.metrics_names import MODEL_LABEL
from specs.offered import most_replicas
from specs.promql import number, render
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.triggers import CronTrigger, QueryTrigger, Trigger, triggers

FALLBACK_FAILURES = 3
"""Failed queries in a row before the fallback acts; until then the HPA holds (a failing metric blocks
scale-down)."""
PROMETHEUS_ADDRESS = "http://prometheus-operated.monitoring.svc:9090"
"""The governing Service that the Prometheus operator makes beside every Prometheus object."""
AUTHENTICATION = "headroom-prometheus"
"""ClusterTriggerAuthentication for sigv4 through Pod Identity; the Autoscaler makes it when auth is sigv4."""


def server_address(settings: Settings) -> str:
    """Where KEDA asks: the stated Prometheus, or the one the program installs."""
    return settings.platform.prometheus.address or PROMETHEUS_ADDRESS


def _prometheus(settings: Settings, trigger: QueryTrigger) -> dict[str, object]:
    prometheus = settings.platform.prometheus
    metadata = {
        "serverAddress": server_address(settings),
        "query": trigger.query if isinstance(trigger.query, str) else render(trigger.query),
        "threshold": number(trigger.threshold),
        # With the default "true" an outage reads as 0 and scales in (keda issue 3065).
        "ignoreNullValues": "false",
    }
    if trigger.activation:
        metadata["activationThreshold"] = number(trigger.activation)
    if prometheus.tenant:
        metadata["customHeaders"] = f"X-Scope-OrgID={prometheus.tenant}"
    body: dict[str, object] = {
        "type": "prometheus",
        "name": trigger.name,
        "metricType": trigger.metric_type,
        "metadata": metadata,
    }
    if prometheus.auth == "sigv4":
        metadata["awsRegion"] = settings.region
        body["authenticationRef"] = {"name": AUTHENTICATION, "kind": "ClusterTriggerAuthentication"}
    return body


def _cron(trigger: CronTrigger) -> dict[str, object]:
    return {
        "type": "cron",
        "name": trigger.name,
        "metricType": "AverageValue",
        "metadata": {
            "timezone": trigger.timezone,
            "start": trigger.start,
            "end": trigger.end,
            "desiredReplicas": str(trigger.replicas),
        },
    }


def _trigger(settings: Settings, trigger: Trigger) -> dict[str, object]:
    return _cron(trigger) if isinstance(trigger, CronTrigger) else _prometheus(settings, trigger)


def behavior(model: Model) -> dict[str, object]:
    """The HPA's speed limits. Growth may use the larger allowance at once; shrinking keeps the highest
    recommendation of the window and removes a few replicas per period.
    """
    up, down = model.scaling.scale_up, model.scaling.scale_down
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": up.pods, "periodSeconds": up.period_seconds},
                {"type": "Percent", "value": up.percent, "periodSeconds": up.period_seconds},
            ],
        },
        "scaleDown": {
            "stabilizationWindowSeconds": down.stabilization_seconds,
            "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": down.pods, "periodSeconds": down.period_seconds}],
        },
    }


def scaled_object(settings: Settings, model: Model) -> dict[str, object]:
    """The whole ScaledObject body for the model's Deployment, which bears the model's name."""
    most = most_replicas(settings, model)
    least = min(model.replicas.min, most)
    spec: dict[str, object] = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": model.name},
        "minReplicaCount": least,
        "maxReplicaCount": most,
        # currentReplicasIfHigher: an outage keeps what runs and never falls below the fallback
        # (keda issue 6659 describes what a static fallback does to a busy service).
        "fallback": {
            "failureThreshold": FALLBACK_FAILURES,
            "replicas": max(1, least),
            "behavior": "currentReplicasIfHigher",
        },
        "advanced": {
            "restoreToOriginalReplicaCount": False,
            "horizontalPodAutoscalerConfig": {"name": model.name, "behavior": behavior(model)},
        },
        "triggers": [_trigger(settings, trigger) for trigger in triggers(settings, model)],
    }
    if least == 0:
        # Both act only between 0 and 1 (keda pull request 7271); with min >= 1 they are left out.
        spec["pollingInterval"] = model.scaling.polling_seconds
        spec["cooldownPeriod"] = model.scaling.cooldown_seconds
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": model.name,
            "namespace": model.namespace,
            "labels": {MODEL_LABEL.replace("_", "-"): model.name},
        },
        "spec": spec,
    }
