"""private-by-default: open buckets, open cluster endpoints, readable disks and node credentials.

Model weights are often licensed and sometimes secret; a public endpoint with the default 0.0.0.0/0 is what
pulumi-eks 4.4 builds unless told otherwise; with IMDSv2 at hop limit 1 a pod can't take the node's role.
"""

from pulumi_policy import Severity

from policies.buckets import (
    ACCOUNT_BLOCKS,
    ACLS,
    BLOCKS,
    BUCKETS,
    ENCRYPTION,
    FLAGS,
    POLICIES,
    Bucket,
    buckets,
    encrypted,
    tls_only,
)
from policies.configuration import Property
from policies.exposure import JUDGED, exposure
from policies.plain import items, shown
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding

_NO_TLS = (
    "no policy denies requests without TLS",
    "TLS only",
    "add a BucketPolicy: Deny * s3:* when aws:SecureTransport is false",
)
_PUBLIC = ("public-read", "public-read-write", "authenticated-read")


def judge(scene: Scene, config: Config) -> Verdict:
    """Buckets with their attachments; clusters, disks and machines by themselves."""
    allowed = [cidr for cidr in items(config["allowPublicEndpointCidrs"]) if isinstance(cidr, str)]
    classes = scene.kind("karpenter.k8s.aws", "EC2NodeClass") + scene.kind("storage.k8s.io", "StorageClass")
    judged = [resource for resource in scene.resources if resource.type in (*BUCKETS, *POLICIES, *JUDGED)]
    if not judged and not classes:
        return None
    findings = [
        finding(on, found, permitted, fix)
        for on in (*judged, *classes)
        for found, permitted, fix in exposure(on, allowed)
    ]
    if not scene.whole:
        # A bucket has one policy: a document without the denial is refused before it is put in place.
        documents = [(part, tls_only(part.get("policy"))) for part in judged if part.type in POLICIES]
        findings += [finding(part, *_NO_TLS) for part, answer in documents if answer is False]
    else:
        account = any(
            all(resource.get(flag) is True for flag in FLAGS)
            for resource in scene.resources
            if resource.type in ACCOUNT_BLOCKS
        )
        for bucket in buckets(scene.resources):
            findings += _public(bucket, account) + _encryption(bucket) + _tls(bucket)
    return findings


def _public(bucket: Bucket, account: bool) -> list[Finding]:
    findings: list[Finding] = []
    acls = [bucket.resource.get("acl"), *(item.get("acl") for item in bucket.of(ACLS))]
    if any(acl in _PUBLIC for acl in acls):
        found = f"acl {', '.join(shown(acl) for acl in acls if acl is not None)}"
        findings.append(finding(bucket.resource, found, "private", "remove the public acl"))
    blocks = bucket.of(BLOCKS)
    open_flags = [[flag for flag in FLAGS if block.get(flag) is not True] for block in blocks]
    if account or [] in open_flags:
        return findings
    fix = "add a BucketPublicAccessBlock with all four flags true"
    if blocks:
        flags = ", ".join(f"{flag} {shown(blocks[0].get(flag))}" for flag in open_flags[0])
        findings.append(finding(bucket.resource, flags, "all four public access blocks true", fix))
    elif bucket.may_have(BLOCKS):
        findings.append(_unsure(bucket, "public access block"))
    else:
        findings.append(finding(bucket.resource, "public access is not blocked", "all four blocks true", fix))
    return findings


def _encryption(bucket: Bucket) -> list[Finding]:
    answers = [encrypted(stated) for stated in bucket.encryption]
    if True in answers:
        return []
    if None in answers or (not answers and bucket.may_have(ENCRYPTION)):
        return [_unsure(bucket, "encryption")]
    fix = "add a BucketServerSideEncryptionConfiguration with aws:kms"
    return [finding(bucket.resource, "no default encryption is stated", "aws:kms or AES256", fix)]


def _tls(bucket: Bucket) -> list[Finding]:
    answers = [tls_only(document) for document in bucket.policies]
    if True in answers or bucket.deferred:
        return []
    if None in answers or (not answers and bucket.may_have(POLICIES)):
        return [_unsure(bucket, "TLS policy")]
    return [finding(bucket.resource, *_NO_TLS)]


def _unsure(bucket: Bucket, what: str) -> Finding:
    fix = "give policy as an object, so that only the ARN is unknown, and bucket from the bucket itself"
    return finding(bucket.resource, f"its {what} is not known yet", "known in preview", fix)


POLICY = stack_rule(
    "private-by-default",
    "Buckets are private, encrypted, TLS only; endpoints closed; disks encrypted; IMDSv2 at hop 1.",
    Severity.CRITICAL,
    judge,
    {"allowPublicEndpointCidrs": Property("texts", [], "networks that may reach a public cluster endpoint")},
)
