"""S3 buckets with what is attached to them: access blocks, encryption, bucket policies."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from policies.declared import Resource
from policies.plain import UNKNOWN, Plain, dig, fields, plain, walk

BUCKETS = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2")
BLOCKS = ("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",)
ACCOUNT_BLOCKS = (
    "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock",
    "aws:s3control/accountPublicAccessBlock:AccountPublicAccessBlock",
)
ENCRYPTION = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
)
POLICIES = ("aws:s3/bucketPolicy:BucketPolicy",)
ACLS = ("aws:s3/bucketAcl:BucketAcl", "aws:s3/bucketAclV2:BucketAclV2")
FLAGS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
_PARTS = frozenset((*BLOCKS, *ENCRYPTION, *POLICIES, *ACLS))
_INLINE = ("serverSideEncryptionConfiguration", "serverSideEncryptionConfigurations")


@dataclass(frozen=True)
class Bucket:
    """A bucket and the resources that configure it; `unsure` are those whose bucket is not known yet."""

    resource: Resource
    attached: tuple[Resource, ...]
    unsure: tuple[Resource, ...]

    def of(self, types: Iterable[str]) -> list[Resource]:
        """Attached resources of these types."""
        return [item for item in self.attached if item.type in types]

    def may_have(self, types: Iterable[str]) -> bool:
        """Whether a resource of these types might turn out to be attached."""
        return any(item.type in types for item in self.unsure)

    @property
    def encryption(self) -> list[Plain]:
        """Encryption stated inline or by an attached resource."""
        inline = [value for key in _INLINE if (value := self.resource.get(key)) is not None]
        return inline + [item.props for item in self.of(ENCRYPTION)]

    @property
    def policies(self) -> list[Plain]:
        """Bucket policy documents that can be judged now: the inline one and the attached ones."""
        inline = self.resource.get("policy")
        stated = [] if inline in (None, "") else [inline]
        return stated + [item.get("policy") for item in self.of(POLICIES) if item not in self.deferred]

    @property
    def deferred(self) -> list[Resource]:
        """Policies unknown only because they name this bucket, which does not exist yet.

        The engine analyzes each of them once more before it creates it, with the document known.
        """
        return [
            item
            for item in self.of(POLICIES)
            if item.get("policy") is UNKNOWN and self.resource.urn in item.sources.get("policy", ())
        ]


def buckets(resources: Iterable[Resource]) -> list[Bucket]:
    """Every bucket of the stack with its attachments."""
    known = list(resources)
    parts = [item for item in known if item.type in _PARTS]
    found: list[Bucket] = []
    for resource in known:
        if resource.type in BUCKETS:
            answers = [(part, _belongs(part, resource)) for part in parts]
            sure = tuple(part for part, answer in answers if answer)
            unsure = tuple(part for part, answer in answers if answer is None)
            found.append(Bucket(resource, sure, unsure))
    return found


def _belongs(part: Resource, bucket: Resource) -> bool | None:
    """By the origin of the `bucket` property, else by name; `None` when neither is known."""
    if bucket.urn in part.sources.get("bucket", ()):
        return True
    stated = part.get("bucket")
    names = (bucket.get("bucket"), dig(bucket.outputs, "bucket"), dig(bucket.outputs, "id"), bucket.get("id"))
    if isinstance(stated, str):
        return stated in names
    return False if part.sources.get("bucket") else None


def encrypted(stated: Plain) -> bool | None:
    """Whether an encryption configuration of any form names an algorithm; `None` when that can't be known."""
    found = list(walk(stated))
    if any(path and path[-1] == "sseAlgorithm" and isinstance(value, str) and value for path, value in found):
        return True
    return None if any(value is UNKNOWN for _, value in found) else False


def tls_only(document: Plain) -> bool | None:
    """Whether a bucket policy denies every request without TLS; `None` when it can't be read.

    Looks for Deny, any principal, all of S3, `aws:SecureTransport` false. A document given as an object may
    have an unknown Resource (the ARN of a new bucket): that part is not needed.
    """
    if isinstance(document, str):
        try:
            parsed: Any = json.loads(document)
        except (ValueError, RecursionError):
            return False
        document = plain(parsed)
    statements = _lower(document)
    if statements is None:
        return None
    listed = statements.get("statement")
    answers = [_denies(statement) for statement in (listed if isinstance(listed, list) else [listed])]
    if True in answers:
        return True
    return None if None in answers else False


def _denies(statement: Plain) -> bool | None:
    if statement is None:
        return False
    part = _lower(statement)
    if part is None:
        return None
    principal, actions = part.get("principal"), part.get("action")
    everyone = principal if not isinstance(principal, dict) else principal.get("AWS", principal.get("aws"))
    condition = _lower(part.get("condition"))
    secure = _lower(condition.get("bool")) if condition else None
    needed = (
        part.get("effect"),
        everyone,
        actions,
        None if secure is None else secure.get("aws:securetransport"),
    )
    if UNKNOWN in needed or UNKNOWN in (part.get("condition"), principal):
        return None
    return (
        part.get("effect") == "Deny"
        and "*" in _listed(everyone)
        and not {"s3:*", "*"}.isdisjoint(str(action) for action in _listed(actions))
        and any(value is False or str(value).lower() == "false" for value in _listed(needed[3]))
    )


def _listed(value: Plain) -> list[Plain]:
    return value if isinstance(value, list) else [value]


def _lower(value: Plain) -> dict[str, Plain] | None:
    known = fields(value)
    return None if known is None else {key.lower(): inner for key, inner in known.items()}
