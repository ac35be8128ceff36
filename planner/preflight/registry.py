"""Whether a container image exists, by the registry protocol (OCI distribution specification 1.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError

ACCEPT: Final = ", ".join(
    [
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ]
)
DOCKER_HUB: Final = "registry-1.docker.io"
CONNECT_SECONDS, READ_SECONDS = 4.0, 10.0
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Reference:
    """An image by registry host, repository and tag or digest."""

    host: str
    repository: str
    version: str


class RegistryError(Exception):
    """The registry gave no usable answer; the message says why."""


def reference(image: str) -> Reference:
    """Take an image apart as container runtimes do: a first part with a dot or a port is a host."""
    name, at, digest = image.partition("@")
    head, slash, rest = name.partition("/")
    host, path = (head, rest) if slash and ("." in head or ":" in head or head == "localhost") else ("", name)
    repository, _, tag = path.partition(":")
    if host in {"", "docker.io", "index.docker.io"}:
        host = DOCKER_HUB
        repository = repository if "/" in repository else f"library/{repository}"
    return Reference(host, repository, digest if at else tag)


class Registry:
    """Anonymous questions to public registries. `addresses` maps a host to another base URL, such as a mirror's."""

    def __init__(self, addresses: Mapping[str, str] | None = None) -> None:
        self._addresses = dict(addresses or {})
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        self._http = urllib3.PoolManager(timeout=timeout, retries=urllib3.Retry(1, redirect=3))

    def has(self, image: Reference) -> bool:
        """The manifest exists. Raises RegistryError when the registry doesn't say."""
        base = self._addresses.get(image.host, f"https://{image.host}")
        address = f"{base}/v2/{image.repository}/manifests/{image.version}"
        status, challenge = self._head(address, None)
        if status == 401:
            status, _ = self._head(address, self._token(challenge))
        if status == 200:
            return True
        if status == 404:
            return False
        words = {401: "it wants credentials", 403: "it wants credentials", 429: "throttled"}
        raise RegistryError(
            f"{image.host} answered {status}" + (f": {words[status]}" if status in words else "")
        )

    def _head(self, address: str, token: str | None) -> tuple[int, str]:
        headers = {"Accept": ACCEPT} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            answer = self._http.request("HEAD", address, headers=headers)
        except HTTPError as error:
            raise _no_network(address, error) from error
        return answer.status, answer.headers.get("WWW-Authenticate", "")

    def _token(self, challenge: str) -> str | None:
        """An anonymous pull token from the place that the challenge names; None where none is given."""
        words = dict(_CHALLENGE.findall(challenge))
        if not challenge.lower().startswith("bearer") or "realm" not in words:
            return None
        realm = words.pop("realm")
        try:
            answer = self._http.request("GET", f"{realm}?{urlencode(words)}")
            document: object = json.loads(answer.data) if answer.status == 200 else {}
        except HTTPError as error:
            raise _no_network(realm, error) from error
        except ValueError as error:
            raise RegistryError(f"{realm} answered no JSON") from error
        if not isinstance(document, dict):
            return None
        token = document.get("token") or document.get("access_token")  # pyright: ignore[reportUnknownVariableType] - JSON
        return token if isinstance(token, str) else None


def _no_network(address: str, error: HTTPError) -> RegistryError:
    cause = error.reason if isinstance(error, MaxRetryError) and error.reason is not None else error
    return RegistryError(f"no network to {urlsplit(address).hostname} ({type(cause).__name__})")
