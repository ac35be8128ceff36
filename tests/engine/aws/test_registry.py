"""Whether an image exists, asked of a registry over HTTP."""

from __future__ import annotations

import json

import pytest

from planner.preflight.registry import Registry, RegistryError, reference
from tests.engine.aws.server import Rule, Server

IMAGE = reference("ghcr.io/owner/engine:v1")
PATH = "/v2/owner/engine/manifests/v1"


@pytest.fixture
def registry(aws: Server) -> Registry:
    return Registry({"ghcr.io": aws.address})


def test_an_image_that_is_there_is_found(aws: Server, registry: Registry) -> None:
    aws.rules.append(Rule(lambda request: request.path == PATH, 200))
    assert registry.has(IMAGE)


def test_an_image_that_is_not_there_is_not_found(aws: Server, registry: Registry) -> None:
    aws.rules.append(Rule(lambda request: request.path == PATH, 404))
    assert not registry.has(IMAGE)


def test_an_anonymous_token_is_fetched_where_the_registry_asks_for_one(
    aws: Server, registry: Registry
) -> None:
    token = json.dumps({"token": "anonymous"}).encode()
    challenge = f'Bearer realm="{aws.address}/token",service="s",scope="repository:owner/engine:pull"'
    aws.rules += [
        Rule(lambda request: request.path == "/token" and "scope=repository" in request.query, 200, token),
        Rule(
            lambda request: request.path == PATH and request.authorization == "",
            401,
            headers=(("WWW-Authenticate", challenge),),
        ),
        Rule(lambda request: request.path == PATH and request.authorization == "Bearer anonymous", 200),
    ]
    assert registry.has(IMAGE)


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_a_registry_that_does_not_say_is_an_error(aws: Server, registry: Registry, status: int) -> None:
    aws.rules.append(Rule(lambda request: request.path == PATH, status))
    with pytest.raises(RegistryError, match=str(status)):
        registry.has(IMAGE)


def test_a_token_that_is_no_json_is_an_error(aws: Server, registry: Registry) -> None:
    challenge = (("WWW-Authenticate", f'Bearer realm="{aws.address}/token"'),)
    aws.rules += [
        Rule(lambda request: request.path == "/token", 200, b"<html>"),
        Rule(lambda request: request.path == PATH, 401, headers=challenge),
    ]
    with pytest.raises(RegistryError, match="JSON"):
        registry.has(IMAGE)


def test_without_network_it_is_an_error() -> None:
    with pytest.raises(RegistryError, match="no network"):
        Registry({"ghcr.io": "http://127.0.0.1:9"}).has(IMAGE)
