"""Why a question to AWS has no answer, in words, with the IAM action it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConfigParseError,
    HTTPClientError,
    InvalidRegionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)

DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "Forbidden",
        "UnauthorizedOperation",
        "UnauthorizedAccess",
        "403",
    }
)
REFUSED = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidToken",
        "MissingAuthenticationToken",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
THROTTLED = frozenset(
    {
        "EC2ThrottledException",
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    }
)
LONGEST = 160
CREDENTIALS = "give credentials: AWS_PROFILE, AWS_ACCESS_KEY_ID with its secret, or a role; then "


class UnansweredError(Exception):
    """AWS gave no usable answer; `reason` says why, `fix` what to do."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason, self.fix = reason, fix


def unanswered(error: Exception, action: str) -> UnansweredError:
    """Turn an exception of botocore into words."""
    allow = f"allow {action} to this identity"
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return UnansweredError("no credentials", CREDENTIALS + allow)
    if isinstance(error, ProfileNotFound):
        return UnansweredError(str(error), "name a profile that exists in AWS_PROFILE, or unset it")
    if isinstance(error, TokenRetrievalError | SSOError):
        return UnansweredError(f"no credentials: {error}", f"log in again, e.g. aws sso login; {allow}")
    if isinstance(error, NoRegionError):
        return UnansweredError("no region", "set aws:region in the stack file")
    if isinstance(error, InvalidRegionError):
        return UnansweredError(brief(error), "name a region such as us-east-1")
    if isinstance(error, ConfigParseError):
        return UnansweredError(brief(error), "mend the file, or unset AWS_CONFIG_FILE")
    if isinstance(error, ParamValidationError):
        return UnansweredError(f"a name that AWS does not take: {brief(error)}", "correct it")
    if isinstance(error, ClientError):
        return _answered(error, action, allow)
    if isinstance(error, HTTPClientError | BotoConnectionError):
        return UnansweredError(
            f"no network: {brief(error)}", f"check network, proxy and AWS_ENDPOINT_URL; {allow}"
        )
    if isinstance(error, BotoCoreError):
        return UnansweredError(f"{type(error).__name__}: {brief(error)}", allow)
    return UnansweredError(misunderstood(error), f"check proxy and AWS_ENDPOINT_URL; {allow}")


def _answered(error: ClientError, action: str, allow: str) -> UnansweredError:
    code, status = code_of(error), status_of(error)
    if code in DENIED or (status == 403 and code not in REFUSED):
        return UnansweredError(f"not permitted ({code})", allow)
    if code in REFUSED or status == 401:
        return UnansweredError(f"credentials refused ({code})", f"renew the credentials; then {allow}")
    if code in THROTTLED or status == 429:
        return UnansweredError(f"throttled ({code})", f"run it again in a minute; it calls {action}")
    if status >= 500:
        return UnansweredError(
            f"AWS failed with {status} ({code})", f"run it again in a minute; it calls {action}"
        )
    return UnansweredError(f"AWS answered {code}", f"see why {action} is refused: {brief(error)}")


def code_of(error: ClientError) -> str:
    """The error code of an answer, such as AccessDenied; `no code` where it has none."""
    answer = cast(Mapping[str, Mapping[str, object]], error.response)
    return str(answer.get("Error", {}).get("Code") or "no code")


def status_of(error: ClientError) -> int:
    """The HTTP status of an answer; 0 where none is known."""
    answer = cast(Mapping[str, Mapping[str, object]], error.response)
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status if isinstance(status, int) else 0


def brief(error: object) -> str:
    """An error's words on one line of at most LONGEST characters, such as when a proxy answers with a page."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def misunderstood(error: Exception) -> str:
    """The reason for an answer of another shape than AWS's own."""
    return f"an answer that was not understood ({type(error).__name__}: {brief(error)})"
