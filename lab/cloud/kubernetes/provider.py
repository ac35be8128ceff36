"""Serves the recorded API server."""
# ruff: noqa: N802, ARG002 - method names and signatures are those of the protocol

from typing import Any

from lab.cloud.journal import Journal
from lab.cloud.kubernetes.book import KubernetesBook
from lab.cloud.kubernetes.provider_config import replaced_by
from lab.cloud.provider import RecordedProvider, diff_response
from lab.cloud.wire import bare, to_python


class KubernetesProvider(RecordedProvider):
    """Objects and Helm releases; charts and files that a component renders would need a cluster and are
    refused."""

    def __init__(self, journal: Journal, *, collecting: bool) -> None:
        super().__init__(KubernetesBook(), journal, collecting=collecting)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        old, new = bare(to_python(request.old_inputs)), bare(to_python(request.news))
        return diff_response(old, new, replaced_by(old, new), self.book.same)
