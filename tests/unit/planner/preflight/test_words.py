"""Images taken apart, AWS's refusals in words, and the table."""

from __future__ import annotations

import io

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ReadTimeoutError,
)
from rich.console import Console

from planner.aws.unanswered import unanswered
from planner.preflight.check import Check, as_json, fails, render_table
from planner.preflight.registry import DOCKER_HUB, reference


@pytest.mark.parametrize(
    ("image", "host", "repository", "version"),
    [
        ("vllm/vllm-openai:v0.33.0", DOCKER_HUB, "vllm/vllm-openai", "v0.33.0"),
        ("ubuntu:24.04", DOCKER_HUB, "library/ubuntu", "24.04"),
        ("docker.io/vllm/x:1", DOCKER_HUB, "vllm/x", "1"),
        ("ghcr.io/a/b/c:1", "ghcr.io", "a/b/c", "1"),
        ("registry.example.com:5000/a:1", "registry.example.com:5000", "a", "1"),
        ("a/b:1@sha256:ab", DOCKER_HUB, "a/b", "sha256:ab"),
        ("a/b@sha256:ab", DOCKER_HUB, "a/b", "sha256:ab"),
    ],
)
def test_an_image_is_taken_apart_as_container_runtimes_do(
    image: str, host: str, repository: str, version: str
) -> None:
    found = reference(image)
    assert (found.host, found.repository, found.version) == (host, repository, version)


def refusal(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Op"
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (refusal("AccessDenied", 403), "not permitted"),
        (refusal("UnauthorizedOperation", 403), "not permitted"),
        (refusal("SomethingNew", 403), "not permitted"),
        (refusal("ExpiredToken", 403), "credentials refused"),
        (refusal("InvalidClientTokenId", 403), "credentials refused"),
        (refusal("Throttling", 400), "throttled"),
        (refusal("RequestLimitExceeded", 503), "throttled"),
        (refusal("SlowDown", 503), "throttled"),
        (refusal("InternalFailure", 500), "AWS failed with 500"),
        (refusal("ValidationException", 400), "AWS answered ValidationException"),
        (NoCredentialsError(), "no credentials"),
        (PartialCredentialsError(provider="env", cred_var="x"), "no credentials"),
        (NoRegionError(), "no region"),
        (EndpointConnectionError(endpoint_url="http://x"), "no network"),
        (ConnectTimeoutError(endpoint_url="http://x"), "no network"),
        (ReadTimeoutError(endpoint_url="http://x"), "no network"),
        (KeyError("Quota"), "not understood"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_way_of_no_answer_has_its_words(error: Exception, words: str) -> None:
    assert words in unanswered(error, "ec2:DescribeInstances").reason


def test_the_action_that_is_missing_is_named() -> None:
    assert "iam:GetRole" in unanswered(refusal("AccessDenied", 403), "iam:GetRole").fix


CHECKS = [Check("a[b]", "pass", "f", "n"), Check("c", "unknown", "no network", "n", "look")]


def test_an_unknown_fails_nothing_and_a_failure_does() -> None:
    assert not fails(CHECKS)
    assert fails([*CHECKS, Check("d", "fail", "f", "n", "x")])


def test_the_document_has_the_five_keys_of_the_contract() -> None:
    assert as_json(CHECKS) == {
        "checks": [
            {"name": "a[b]", "verdict": "pass", "found": "f", "needed": "n", "fix": ""},
            {"name": "c", "verdict": "unknown", "found": "no network", "needed": "n", "fix": "look"},
        ]
    }


def test_the_table_shows_names_with_brackets_and_verdicts() -> None:
    out = io.StringIO()
    render_table(CHECKS, Console(file=out, width=120))
    assert "a[b]" in out.getvalue()
    assert "unknown" in out.getvalue()
