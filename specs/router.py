"""The router of a model: finds its engines by watching pods, holds requests while there are none.

Flags as vllm-router 0.1.17 has them, in its Python launcher and in the Rust binary of its image alike.
"""

from __future__ import annotations

import math
from typing import Final

from specs.drain import MARGIN_SECONDS
from specs.engine_args import PORT as ENGINE_PORT
from specs.labels import labels, selector, system_nodes
from specs.patience import hold_seconds
from specs.serving import KEPT_REVISIONS, metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

PORT: Final = 8080
METRICS_PORT: Final = 29000
SERVICE_PORT: Final = 80
USER: Final = 65534
BACKOFF_SECONDS: Final = 1.0
"""Longest pause between two tries of a held request: the wait that a ready engine adds."""
JITTER: Final = 0.2
# A balancer still sends for some seconds after it was told (aws-load-balancer-controller issue 1719);
# inside the cluster endpoints are forgotten within a second or two.
BALANCER_WAIT_SECONDS: Final = 25
CLUSTER_WAIT_SECONDS: Final = 10
# The default minute keeps a restarted engine without traffic that long.
BREAKER_SECONDS: Final = 5
HEALTH_SECONDS: Final = 5
TREE_CHARACTERS: Final = 4 * 2**20
"""Prefixes remembered per engine: about a million tokens, more than its KV cache holds."""


def name(model: Model) -> str:
    """Name of the router's objects."""
    return f"{model.name}-router"


def url(model: Model) -> str:
    """Where callers inside the cluster find the model."""
    return f"http://{name(model)}.{model.namespace}.svc:{SERVICE_PORT}"


def policy_args(settings: Settings, model: Model) -> list[str]:
    """How it chooses an engine, how long it holds a request, when it gives an engine up.

    Retries times the longest pause, jitter taken off, cover the time from zero replicas to the first that
    serves. A difference in load of an eighth of the batch outweighs a shared prefix: with the default of 64
    requests a fleet that has just grown would leave its new replicas idle.
    """
    retries = math.ceil(hold_seconds(settings, model) / (BACKOFF_SECONDS * (1 - JITTER)))
    return [
        *("--policy", "cache_aware"),
        *("--balance-abs-threshold", str(max(2, model.max_num_seqs // 8))),
        *("--max-tree-size", str(TREE_CHARACTERS)),
        *("--retry-max-retries", str(retries)),
        *("--retry-initial-backoff-ms", "200"),
        *("--retry-max-backoff-ms", str(round(BACKOFF_SECONDS * 1000))),
        *("--retry-jitter-factor", f"{JITTER:g}"),
        *("--cb-timeout-duration-secs", str(BREAKER_SECONDS)),
        *("--health-check-interval-secs", str(HEALTH_SECONDS)),
        *("--worker-startup-check-interval", "1"),
    ]


def router_args(settings: Settings, model: Model) -> list[str]:
    """All arguments: where it listens, where it looks for engines, and the policy."""
    everywhere = "0.0.0.0"  # noqa: S104 - a pod's own network namespace
    return [
        *("--host", everywhere),
        *("--port", str(PORT)),
        *("--prometheus-host", everywhere),
        *("--prometheus-port", str(METRICS_PORT)),
        "--service-discovery",
        *("--service-discovery-namespace", model.namespace),
        *("--service-discovery-port", str(ENGINE_PORT)),
        *("--selector", *(f"{key}={value}" for key, value in selector(model, "engine").items())),
        *policy_args(settings, model),
    ]


def pre_stop_seconds(model: Model) -> int:
    """Wait before SIGTERM, until nobody sends to the router any more."""
    return BALANCER_WAIT_SECONDS if model.ingress.enabled else CLUSTER_WAIT_SECONDS


def drain_seconds(settings: Settings, model: Model) -> int:
    """The longest a request may still take in a router that leaves: held, then served."""
    return hold_seconds(settings, model) + model.drain.shutdown_seconds


def grace_seconds(settings: Settings, model: Model) -> int:
    """terminationGracePeriodSeconds: on SIGTERM the router waits for its requests, with no limit of its own."""
    return pre_stop_seconds(model) + drain_seconds(settings, model) + MARGIN_SECONDS


def deployment(settings: Settings, model: Model) -> dict[str, object]:
    """The router Deployment: always at least one replica, on nodes that stay."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(model, name(model), "router"),
        "spec": {
            "replicas": settings.platform.router.replicas,
            "selector": {"matchLabels": selector(model, "router")},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            # A balancer needs some seconds to know a new router before an old one may go.
            "minReadySeconds": 10,
            "revisionHistoryLimit": KEPT_REVISIONS,
            "template": {"metadata": {"labels": labels(model, "router")}, "spec": _pod(settings, model)},
        },
    }


def _pod(settings: Settings, model: Model) -> dict[str, object]:
    spread = {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    chosen = {"labelSelector": {"matchLabels": selector(model, "router")}}
    spec: dict[str, object] = {
        "serviceAccountName": name(model),
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": grace_seconds(settings, model),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {**spread, **chosen, "topologyKey": "kubernetes.io/hostname"},
            {**spread, **chosen, "topologyKey": "topology.kubernetes.io/zone"},
        ],
        "containers": [_container(settings, model)],
    }
    if system_nodes(settings):
        spec["nodeSelector"] = system_nodes(settings)
    return spec


def _container(settings: Settings, model: Model) -> dict[str, object]:
    # /readiness answers 503 at zero engines, which would take the router out of its Service just when it
    # must hold requests; /liveness is 200 as long as it runs.
    alive: dict[str, object] = {"httpGet": {"path": "/liveness", "port": "http"}, "timeoutSeconds": 3}
    return {
        "name": "router",
        "image": settings.platform.router.image,
        "command": ["vllm-router"],
        "args": router_args(settings, model),
        "ports": [
            {"name": "http", "containerPort": PORT, "protocol": "TCP"},
            {"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "startupProbe": {**alive, "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {**alive, "periodSeconds": 3, "failureThreshold": 2},
        "livenessProbe": {**alive, "periodSeconds": 10, "failureThreshold": 6},
        "lifecycle": {"preStop": {"sleep": {"seconds": pre_stop_seconds(model)}}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def service(model: Model) -> dict[str, object]:
    """What callers and the balancer talk to."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(model, name(model), "router"),
        "spec": {
            "type": "ClusterIP",
            "selector": selector(model, "router"),
            "ports": [{"name": "http", "port": SERVICE_PORT, "targetPort": "http", "protocol": "TCP"}],
        },
    }
