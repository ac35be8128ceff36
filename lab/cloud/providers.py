"""Which provider answers for which package in one operation."""

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cloud.aws.book import AwsBook
from lab.cloud.eks.provider import EksProvider
from lab.cloud.journal import Journal
from lab.cloud.kubernetes.forward import Forwarder, KubernetesStartError, running
from lab.cloud.kubernetes.provider import KubernetesProvider
from lab.cloud.provider import RecordedProvider
from lab.cloud.pulumiservice.book import PulumiServiceBook


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Where Kubernetes objects go: recorded, or to the API server of `kubeconfig` through the binary
    `kubernetes`."""

    kubeconfig: Path | None
    kubernetes: Path | None


@contextlib.contextmanager
def providers(answers: Answers, journal: Journal, *, collecting: bool) -> Generator[dict[str, Any]]:
    """The providers of one operation, by package. Raises KubernetesStartError."""
    recorded: dict[str, Any] = {
        "aws": RecordedProvider(AwsBook(journal), journal, collecting=collecting),
        "eks": EksProvider(journal, collecting=collecting),
        "pulumiservice": RecordedProvider(PulumiServiceBook(), journal, collecting=collecting),
    }
    releases = KubernetesProvider(journal, collecting=collecting)
    if answers.kubeconfig is None:
        yield {**recorded, "kubernetes": releases}
        return
    if answers.kubernetes is None:
        raise KubernetesStartError(
            f"kubernetes provider: given only the kubeconfig {answers.kubeconfig}; allowed both or neither;"
            " name the binary pulumi-resource-kubernetes too"
        )
    with running(answers.kubernetes) as address:
        forwarder = Forwarder(address, answers.kubeconfig, releases)
        try:
            yield {**recorded, "kubernetes": forwarder}
        finally:
            forwarder.close()
