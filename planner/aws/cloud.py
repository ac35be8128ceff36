"""Questions to AWS: typed at the edge, retried, and either answered or UnansweredError."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from planner.aws.unanswered import UnansweredError, code_of, unanswered

Answer = Mapping[str, Any]
SessionFactory = Callable[[], Any]
"""Makes a boto3.Session; called once, may raise what botocore raises."""

MISUNDERSTOOD: Final = (ResponseParserError, AttributeError, LookupError, TypeError, ValueError)
"""What code meets in an answer of another shape than the service's own, such as a proxy's page."""
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 4, 15, 3
# Services whose IAM prefix differs from their client's name (service authorization reference).
IAM_PREFIX: Final = {"service-quotas": "servicequotas"}
# S3 operations whose IAM action has another name.
IAM_ACTION: Final = {
    "s3:HeadObject": "s3:GetObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
}


class Cloud:
    """One account and region. AWS_ENDPOINT_URL is honoured by boto3 itself; safe to use from several threads."""

    def __init__(
        self, session: SessionFactory | None = None, region: str = "us-east-1", attempts: int = ATTEMPTS
    ) -> None:
        self._factory: SessionFactory = session or boto3.Session
        self._region, self._attempts = region, attempts
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self._session: Any = None

    def ask(
        self,
        service: str,
        operation: str,
        *,
        absent: tuple[str, ...] = (),
        region: str | None = None,
        **words: object,
    ) -> Answer | None:
        """One call. None where AWS answers one of the `absent` error codes. Raises UnansweredError."""
        action = _guessed(service, operation)
        try:
            client = self._client(service, region or self._region)
            action = _action(service, client, operation)
            return cast(Answer, getattr(client, operation)(**words))
        except ClientError as error:
            if code_of(error) in absent:
                return None
            raise unanswered(error, action) from error
        except (*MISUNDERSTOOD, BotoCoreError) as error:
            raise unanswered(error, action) from error

    def pages(
        self, service: str, operation: str, result: str, *, region: str | None = None, **words: object
    ) -> Iterator[Answer]:
        """Every element of list `result` over all pages. Raises UnansweredError."""
        action = _guessed(service, operation)
        try:
            client = self._client(service, region or self._region)
            action = _action(service, client, operation)
            for page in client.get_paginator(operation).paginate(**words):
                yield from page.get(result, ())
        except (*MISUNDERSTOOD, BotoCoreError, ClientError) as error:
            raise unanswered(error, action) from error

    def _client(self, service: str, region: str) -> Any:
        with self._lock:  # sessions are not thread-safe, clients are (boto3 guide, threading)
            if self._session is None:
                self._session = self._factory()
            key = (service, region)
            if key not in self._clients:
                config = Config(
                    connect_timeout=CONNECT_SECONDS,
                    read_timeout=READ_SECONDS,
                    retries={"mode": "standard", "total_max_attempts": self._attempts},
                    user_agent_extra="headroom",
                )
                self._clients[key] = self._session.client(service, region_name=region, config=config)
            return self._clients[key]


def _guessed(service: str, operation: str) -> str:
    """The action's name where no client could be made that knows it."""
    name = f"{IAM_PREFIX.get(service, service)}:{''.join(map(str.capitalize, operation.split('_')))}"
    return IAM_ACTION.get(name, name)


def _action(service: str, client: Any, operation: str) -> str:
    name = f"{IAM_PREFIX.get(service, service)}:{client.meta.method_to_api_mapping[operation]}"
    return IAM_ACTION.get(name, name)


__all__ = ["MISUNDERSTOOD", "Answer", "Cloud", "SessionFactory", "UnansweredError"]
