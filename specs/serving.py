"""The objects around a model's engine pods: Deployment, Service, disruption budget, service account."""

from __future__ import annotations

from typing import Final

from specs.engine_args import PORT
from specs.engine_pod import engine_pod, service_account
from specs.gpus import surge_of
from specs.labels import Part, labels, selector
from specs.patience import progress_seconds
from specs.settings.model import Model
from specs.settings.stack import Settings

SKIP_AWAIT: Final = {"pulumi.com/skipAwait": "true"}
"""With a floor of 0 there may be no pod to wait for; Pulumi would time out (pulumi-kubernetes issue 605)."""
KEPT_REVISIONS: Final = 3


def metadata(model: Model, name: str, part: Part, *, waits: bool = True) -> dict[str, object]:
    """Name, namespace and labels of one of the model's objects; `waits` false tells Pulumi not to await it."""
    body: dict[str, object] = {"name": name, "namespace": model.namespace, "labels": labels(model, part)}
    return body if waits else {**body, "annotations": dict(SKIP_AWAIT)}


def deployment(settings: Settings, model: Model, bucket: object = None) -> dict[str, object]:
    """The engine Deployment, named as the ScaledObject's target. It has no `replicas`: those are the
    autoscaler's, and a stated number would reset the fleet at each deployment (keda issue 5573).
    """
    surge = surge_of(settings, model)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(model, model.name, "engine", waits=model.replicas.min > 0),
        "spec": {
            "selector": {"matchLabels": selector(model, "engine")},
            # Without room for one more replica a surge pod would never get a GPU and the rollout never end.
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 1 - surge},
            },
            "progressDeadlineSeconds": progress_seconds(settings, model),
            "revisionHistoryLimit": KEPT_REVISIONS,
            "template": engine_pod(settings, model, bucket),
        },
    }


def engines_service(model: Model) -> dict[str, object]:
    """A headless Service: one DNS name for all engines, for people and tools. Routers watch the pods instead."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(model, f"{model.name}-engines", "engine", waits=model.replicas.min > 0),
        "spec": {
            "clusterIP": "None",
            "selector": selector(model, "engine"),
            "ports": [{"name": "http", "port": PORT, "targetPort": "http", "protocol": "TCP"}],
        },
    }


def engine_account(model: Model) -> dict[str, object]:
    """The engines' identity towards AWS; it has no rights in the cluster and mounts no token."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(model, service_account(model), "engine"),
        "automountServiceAccountToken": False,
    }


def disruption_budget(model: Model, part: Part) -> dict[str, object]:
    """One pod at a time may be evicted, and a pod that never got ready at any time.

    maxUnavailable rather than minAvailable: with a single replica the latter blocks every drain for good
    (karpenter issue 2600).
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(model, f"{model.name}-{part}", part),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(model, part)},
        },
    }
