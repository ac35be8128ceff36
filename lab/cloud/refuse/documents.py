"""IAM documents: JSON that IAM can read, principals where they belong, and the size limits.

Sizes do not count white space (IAM User Guide, "IAM and AWS STS quotas"): 6,144 characters for a managed
policy, 10,240 for all inline policies of a role together, 2,048 for a trust policy.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import has_unknown

MANAGED, INLINE, TRUST = 6144, 10240, 2048

_PATHS = {
    "aws:iam/policy:Policy": "policy",
    "aws:iam/rolePolicy:RolePolicy": "policy",
    "aws:iam/role:Role": "assumeRolePolicy",
    "aws:sqs/queuePolicy:QueuePolicy": "policy",
    "aws:sqs/queue:Queue": "policy",
    "aws:s3/bucketPolicy:BucketPolicy": "policy",
    "aws:kms/key:Key": "policy",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "policy",
}
_FOR_IDENTITIES = {"aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy"}


def document(asked: Asked, account: Account) -> Iterator[Problem]:
    """A document that is not a policy, or whose statements lack or may not have a principal."""
    del account
    path = _PATHS.get(asked.type, "")
    text = asked.inputs.get(path)
    if not isinstance(text, str) or has_unknown(text):
        return
    statements = _statements(text)
    if statements is None:
        yield Problem(
            path=path,
            given=short(text),
            allowed='a JSON policy document with "Version" and "Statement"',
            fix="build it with Output.json_dumps, so that no Output is printed into it",
        )
        return
    for index, statement in enumerate(statements):
        yield from _statement(f"{path}.Statement[{index}]", statement, asked.type)


def size(asked: Asked, account: Account) -> Iterator[Problem]:
    """A document that is longer than IAM's limit for it."""
    match asked.type:
        case "aws:iam/policy:Policy":
            yield from _longer(
                "policy", asked.inputs.get("policy"), MANAGED, "split it into two managed policies"
            )
        case "aws:iam/role:Role":
            yield from _longer(
                "assumeRolePolicy", asked.inputs.get("assumeRolePolicy"), TRUST, "name fewer principals"
            )
        case "aws:iam/rolePolicy:RolePolicy":
            yield from _inline(asked, account)
        case _:
            return


def _inline(asked: Asked, account: Account) -> Iterator[Problem]:
    role, text = asked.inputs.get("role"), asked.inputs.get("policy")
    if not isinstance(text, str) or has_unknown(text) or has_unknown(role):
        return
    with account.lock:
        sizes = account.inline.setdefault(str(role), {})
        sizes[asked.urn] = length(text)
        total = sum(sizes.values())
    if total > INLINE:
        yield Problem(
            path="policy",
            given=f"{total} characters in all inline policies of role {role}",
            allowed=f"at most {INLINE} without white space",
            fix="move statements into managed policies",
        )


def length(text: str) -> int:
    """Characters as IAM counts them: without white space."""
    return len(re.sub(r"\s", "", text))


def _longer(path: str, text: object, limit: int, fix: str) -> Iterator[Problem]:
    if isinstance(text, str) and not has_unknown(text) and length(text) > limit:
        yield Problem(
            path=path,
            given=f"{length(text)} characters",
            allowed=f"at most {limit} without white space",
            fix=fix,
        )


def _statements(text: str) -> list[dict[str, Any]] | None:
    try:
        parsed: object = json.loads(text)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    found = cast(dict[str, object], parsed).get("Statement")
    statements = cast(list[object], found) if isinstance(found, list) else [found]
    if not statements or not all(isinstance(one, dict) for one in statements):
        return None
    return cast(list[dict[str, Any]], statements)


def _statement(path: str, statement: dict[str, Any], type_: str) -> Iterator[Problem]:
    has_principal = "Principal" in statement or "NotPrincipal" in statement
    if type_ in _FOR_IDENTITIES and has_principal:
        yield Problem(path=path, given="a Principal", allowed="none in an identity policy", fix="remove it")
    if type_ not in _FOR_IDENTITIES and not has_principal:
        yield Problem(
            path=path, given="no Principal", allowed="who may do it", fix="name the service or role"
        )
    if statement.get("Effect") not in ("Allow", "Deny"):
        yield Problem(
            path=f"{path}.Effect",
            given=short(statement.get("Effect")),
            allowed="Allow or Deny",
            fix="state one of them",
        )
    for condition in cast(dict[str, Any], statement.get("Condition") or {}).values():
        for key in condition:
            if re.match(r"(https?://|arn:)", str(key)):
                yield Problem(
                    path=f"{path}.Condition",
                    given=f"the key {short(key)}",
                    allowed="a condition key such as oidc.eks.REGION.amazonaws.com/id/ID:sub",
                    fix="use the issuer's host and path without https://",
                )
