"""Names of AWS objects and namespaces: derived from the stack's name alone, never looked up."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

PROJECT = "headroom"
KARPENTER_NAMESPACE = "kube-system"
KARPENTER_SERVICE_ACCOUNT = "karpenter"
KEDA_NAMESPACE = "keda"
KEDA_SERVICE_ACCOUNT = "keda-operator"
KEDA_OPERATOR = KEDA_SERVICE_ACCOUNT
"""Label app.kubernetes.io/name of the operator's pods."""
METRICS_NAMESPACE = "monitoring"
GPU_NAMESPACE = "gpu-system"
LOAD_BALANCER_SERVICE_ACCOUNT = "aws-load-balancer-controller"

# IAM role names end at 64 characters, SQS queue names at 80, EKS cluster names at 100.
ROLE_LIMIT = 64


def shortened(text: str, limit: int) -> str:
    """`text`, or its head and a digest where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: limit - 9]}-{digest}"


@dataclass(frozen=True)
class Names:
    """The AWS names of one stack."""

    stack: str

    @property
    def cluster(self) -> str:
        """EKS cluster; short enough that every role name derived from it fits IAM's 64 characters."""
        # EKS allows letters, digits, hyphens and underscores; stack names may hold dots too.
        return shortened(f"{PROJECT}-{re.sub(r'[^A-Za-z0-9_-]', '-', self.stack)}", 40)

    def role(self, purpose: str) -> str:
        """IAM role or managed policy for one purpose, such as `node` or `weights-llama3-8b`."""
        return shortened(f"{self.cluster}-{purpose}", ROLE_LIMIT)

    @property
    def node_role(self) -> str:
        """Role of the nodes Karpenter launches."""
        return self.role("node")

    @property
    def queue(self) -> str:
        """SQS queue of interruption events; Karpenter wants the name, not the ARN."""
        return shortened(f"{self.cluster}-interruption", 80)

    def bucket(self, stated: str | None, region: str) -> str:
        """Weights bucket: as stated, or derived. Bucket names are global and at most 63 characters."""
        return stated or shortened(re.sub(r"[^a-z0-9-]", "-", f"{self.cluster}-weights-{region}".lower()), 63)

    @property
    def weights_alias(self) -> str:
        """Alias of the weights' KMS key."""
        return f"alias/{self.cluster}-weights"
