"""How the autoscaler signs its queries to Amazon Managed Prometheus."""

from __future__ import annotations

from specs.scaling import AUTHENTICATION
from specs.settings.stack import Settings


def signs(settings: Settings) -> bool:
    """Whether queries are signed (sigv4)."""
    return settings.platform.prometheus.auth == "sigv4"


def cluster_trigger_authentication() -> dict[str, object]:
    """One for all models: KEDA's operator signs with its own role, which it has by Pod Identity.

    Provider `aws` without an identityOwner uses the operator's credentials (keda v2.21 pkg/scalers/aws).
    """
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ClusterTriggerAuthentication",
        "metadata": {"name": AUTHENTICATION},
        "spec": {"podIdentity": {"provider": "aws"}},
    }
