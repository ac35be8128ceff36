"""Images taken apart, AWS's refusals in words, and the table."""

from __future__ import annotations

import io

import pytest
from botocore.exceptions import (
    ClientError,
    ConfigParseError,
    ConnectTimeoutError,
    EndpointConnectionError,
    InvalidRegionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
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
        (InvalidRegionError(region_name="../x"), "supported format"),
        (ConfigParseError(path="x"), "config file"),
        (ParamValidationError(report="bucket"), "a name that AWS does not take"),
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


def printed(checks: list[Check], width: int) -> str:
    out = io.StringIO()
    render_table(checks, Console(file=out, width=width, soft_wrap=True))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_shows_names_with_brackets_verdicts_and_sums_within_the_width(width: int) -> None:
    long = Check("d", "fail", "found " * 30, "needed " * 30, "the way out " * 20)
    text = printed([*CHECKS, long], width)
    assert "a[b]" in text
    assert "1 pass, 1 fail, 1 unknown" in text
    assert text.index("fail") < text.index("unknown") < text.index("pass")
    assert max(map(len, text.splitlines())) <= width


def test_checks_unknown_for_one_reason_are_told_together() -> None:
    fix = "check network; allow {} to this identity"
    checks = [Check(name, "unknown", "no network", "n", fix.format(name)) for name in ("a:B", "c:D")]
    text = " ".join(printed(checks, 120).split())
    assert "unknown a:B, c:D" in text
    assert text.count("no network") == 1
    assert "allow a:B, c:D to this identity" in text
