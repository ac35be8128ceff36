"""Which provider answers for which package in one operation."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cloud.aws.book import AwsBook
from lab.cloud.eks.provider import EksProvider
from lab.cloud.journal import Journal
from lab.cloud.kubernetes.provider import KubernetesProvider
from lab.cloud.provider import RecordedProvider


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Where Kubernetes objects go: recorded, or to the API server of `kubeconfig` through the binary `kubernetes`."""

    kubeconfig: Path | None
    kubernetes: Path | None


@contextlib.contextmanager
def providers(answers: Answers, journal: Journal, *, collecting: bool) -> Iterator[dict[str, Any]]:
    """The providers of one operation, by package."""
    aws = RecordedProvider(AwsBook(journal), journal, collecting=collecting)
    yield {
        "aws": aws,
        "eks": EksProvider(journal, collecting=collecting),
        "kubernetes": KubernetesProvider(journal, collecting=collecting),
    }
