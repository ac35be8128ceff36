"""The application load balancer in front of a model's router (AWS Load Balancer Controller annotations)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from specs import router
from specs.drain import MARGIN_SECONDS
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

PREFIX: Final = "alb.ingress.kubernetes.io/"
TLS_POLICY: Final = "ELBSecurityPolicy-TLS13-1-2-2021-06"
LONGEST_DEREGISTRATION_SECONDS: Final = 3600
"""The most a target group takes."""


def deregistration_seconds(settings: Settings, model: Model) -> int:
    """How long the balancer leaves a leaving router its requests: as long as the router itself waits for them,
    and never longer than the pod lives."""
    return min(LONGEST_DEREGISTRATION_SECONDS, router.grace_seconds(settings, model) - MARGIN_SECONDS)


def balancer_annotations(settings: Settings, model: Model) -> dict[str, str]:
    """The balancer's scheme, timeouts, health checks and listeners."""
    ingress = model.ingress
    group = {
        "deregistration_delay.timeout_seconds": deregistration_seconds(settings, model),
        # Round robin ignores that one prompt costs a hundred times another.
        "load_balancing.algorithm.type": "least_outstanding_requests",
    }
    balancer = {
        "idle_timeout.timeout_seconds": ingress.idle_timeout_seconds,
        "routing.http.drop_invalid_header_fields.enabled": "true",
    }
    found = {
        "scheme": ingress.scheme,
        "target-type": "ip",
        "load-balancer-attributes": _pairs(balancer),
        "target-group-attributes": _pairs(group),
        "healthcheck-path": "/liveness",
        "healthcheck-interval-seconds": "5",
        "healthcheck-timeout-seconds": "3",
        "healthy-threshold-count": "2",
        "unhealthy-threshold-count": "3",
        "success-codes": "200",
        "listen-ports": json.dumps([{"HTTP": 80}]),
    }
    if ingress.certificate_arn is not None:
        found |= {
            "listen-ports": json.dumps([{"HTTP": 80}, {"HTTPS": 443}]),
            "ssl-redirect": "443",
            "ssl-policy": TLS_POLICY,
            "certificate-arn": ingress.certificate_arn,
        }
    return {PREFIX + key: value for key, value in found.items()}


def _pairs(values: Mapping[str, object]) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items())


def ingress(settings: Settings, model: Model) -> dict[str, object]:
    """The Ingress of a model: every path goes to its router."""
    target = {"service": {"name": router.name(model), "port": {"name": "http"}}}
    rule: dict[str, object] = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": target}]}}
    if model.ingress.host is not None:
        rule["host"] = model.ingress.host
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            **metadata(model, model.name, "router"),
            "annotations": balancer_annotations(settings, model),
        },
        "spec": {"ingressClassName": "alb", "rules": [rule]},
    }
