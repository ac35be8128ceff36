"""private-by-default: buckets, endpoints, disks and node credentials."""

import json
from typing import Any

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    bucket_parts,
    edited,
    judged,
    messages,
    node_class,
)


def buckets(**changes: Props | None) -> list[str]:
    program = bucket_parts()
    for name, change in changes.items():
        if change is None:
            del program[name]
        else:
            program[name][1].update(change)
    return messages("private-by-default", program)


def test_a_private_encrypted_tls_only_bucket_passes() -> None:
    assert buckets() == []


@pytest.mark.parametrize(
    ("missing", "said"),
    [("block", "public access is not blocked"), ("sse", "no default encryption"), ("tls", "without TLS")],
)
def test_each_missing_part_is_refused(missing: str, said: str) -> None:
    (message,) = buckets(**{missing: None})
    assert said in message


@pytest.mark.parametrize(
    "flag", ["blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"]
)
@pytest.mark.parametrize("value", [False, None, UNKNOWN])
def test_all_four_flags_must_be_true(flag: str, value: object) -> None:
    assert flag in buckets(block={flag: value})[0]


def test_a_block_on_another_bucket_does_not_count() -> None:
    assert "not blocked" in buckets(block={"bucket": "other"})[0]


def test_an_unknown_bucket_name_is_settled_by_where_it_came_from() -> None:
    program = bucket_parts()
    for name in ("block", "sse", "tls"):
        program[name][1]["bucket"] = UNKNOWN
    assert len(judged("private-by-default", program)) == 3
    sources = {name: {"bucket": "weights"} for name in ("block", "sse", "tls")}
    assert judged("private-by-default", program, sources=sources) == []


def test_an_account_wide_block_counts_for_every_bucket() -> None:
    program = bucket_parts()
    _, flags = program.pop("block")
    program["account"] = ("aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock", flags)
    assert messages("private-by-default", program) == []


@pytest.mark.parametrize("acl", ["public-read", "public-read-write", "authenticated-read"])
def test_a_public_acl_is_refused(acl: str) -> None:
    assert "acl" in buckets(weights={"acl": acl})[0]


STATEMENT: Props = bucket_parts()["tls"][1]["policy"]["Statement"][0]
ALGORITHM = {"sseAlgorithm": "AES256"}


@pytest.mark.parametrize(
    "cipher",
    [
        {"serverSideEncryptionConfiguration": {"rule": {"applyServerSideEncryptionByDefault": ALGORITHM}}},
        {
            "serverSideEncryptionConfigurations": [
                {"rules": [{"applyServerSideEncryptionByDefaults": [ALGORITHM]}]}
            ]
        },
    ],
)
def test_what_the_bucket_itself_states_counts(cipher: Props) -> None:
    document = json.dumps({"Statement": [{**STATEMENT, "Resource": "arn:aws:s3:::weights/*"}]})
    assert buckets(sse=None, tls=None, weights={"policy": document, **cipher}) == []


def test_an_encryption_without_an_algorithm_is_refused() -> None:
    assert "no default encryption" in buckets(sse={"rules": [{"bucketKeyEnabled": True}]})[0]
    assert "not known yet" in buckets(sse={"rules": UNKNOWN})[0]


def tls(document: object) -> list[str]:
    return buckets(tls={"policy": document})


@pytest.mark.parametrize(
    "statement",
    [
        {**STATEMENT, "Resource": "arn:aws:s3:::weights/*"},
        {**STATEMENT, "Principal": {"AWS": "*"}},
        {**STATEMENT, "Action": ["s3:*"]},
        {**STATEMENT, "Action": "*", "Condition": {"Bool": {"aws:SecureTransport": [False]}}},
        {**STATEMENT, "Condition": {"Bool": {"AWS:securetransport": "false"}}},
    ],
)
def test_every_spelling_of_the_deny_is_read(statement: Props) -> None:
    known = {**statement, "Resource": "arn:aws:s3:::weights/*"}
    assert tls(json.dumps({"Version": "2012-10-17", "Statement": [known]})) == []
    assert tls({"Statement": known}) == []


@pytest.mark.parametrize(
    "statement",
    [
        {**STATEMENT, "Effect": "Allow"},
        {**STATEMENT, "Principal": {"AWS": "arn:aws:iam::1:root"}},
        {**STATEMENT, "Action": "s3:GetObject"},
        {**STATEMENT, "Condition": {"Bool": {"aws:SecureTransport": "true"}}},
        {**STATEMENT, "Condition": None},
    ],
)
def test_a_statement_that_denies_less_is_refused(statement: Props) -> None:
    assert "without TLS" in tls({"Statement": [statement]})[0]


@pytest.mark.parametrize("document", [UNKNOWN, {"Statement": UNKNOWN}])
def test_an_unknown_policy_is_reported(document: object) -> None:
    assert "TLS policy is not known yet" in tls(document)[0]


def test_a_policy_that_is_no_json_is_refused() -> None:
    assert "without TLS" in tls("not json")[0]


def cluster(config: object, allowed: list[str] | None = None) -> list[str]:
    program: Program = {"c": ("aws:eks/cluster:Cluster", {"vpcConfig": config})}
    return messages("private-by-default", program, {"allowPublicEndpointCidrs": allowed or []})


@pytest.mark.parametrize(
    ("config", "allowed", "passes"),
    [
        ({"endpointPublicAccess": False}, [], True),
        ({}, [], False),
        (None, [], False),
        ({"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}, [], False),
        ({"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}, ["203.0.113.0/24"], True),
        ({"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.7/32"]}, ["203.0.113.0/24"], True),
        (
            {"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24", "0.0.0.0/0"]},
            ["203.0.113.0/24"],
            False,
        ),
        ({"endpointPublicAccess": True}, ["203.0.113.0/24"], False),
        ({"endpointPublicAccess": True, "publicAccessCidrs": []}, ["203.0.113.0/24"], False),
        ({"endpointPublicAccess": UNKNOWN}, [], False),
        ({"endpointPublicAccess": True, "publicAccessCidrs": UNKNOWN}, ["0.0.0.0/0"], False),
        (
            {"endpointPublicAccess": True, "publicAccessCidrs": ["2001:db8::/64"]},
            ["2001:db8::/32", "10.0.0.0/8"],
            True,
        ),
    ],
)
def test_a_public_endpoint_opens_only_to_allowed_networks(
    config: object, allowed: list[str], passes: bool
) -> None:
    assert (cluster(config, allowed) == []) is passes


def test_the_eks_component_is_judged_by_what_it_says() -> None:
    program: Program = {"c": ("eks:index:Cluster", {"endpointPublicAccess": True})}
    assert len(messages("private-by-default", program)) == 1
    assert messages("private-by-default", {"c": ("eks:index:Cluster", {})}) == []


DISK = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi"}}


@pytest.mark.parametrize(
    ("kind", "props"),
    [
        ("aws:ebs/volume:Volume", {}),
        ("aws:ebs/volume:Volume", {"encrypted": UNKNOWN}),
        (
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"metadataOptions": {"httpTokens": "required"}, "blockDeviceMappings": [DISK]},
        ),
        ("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": {"blockDeviceMappings": [DISK]}}),
        (
            "kubernetes:storage.k8s.io/v1:StorageClass",
            {"provisioner": "ebs.csi.aws.com", "parameters": {"type": "gp3"}},
        ),
        ("aws:ec2/instance:Instance", {"metadataOptions": {"httpTokens": "required"}}),
    ],
)
def test_a_disk_that_is_not_encrypted_is_refused(kind: str, props: Props) -> None:
    (message,) = messages("private-by-default", {"d": (kind, props)})
    assert "encrypt" in message


@pytest.mark.parametrize(
    ("kind", "props"),
    [
        ("aws:ebs/volume:Volume", {"encrypted": True}),
        ("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": {}}),
        (
            "kubernetes:storage.k8s.io/v1:StorageClass",
            {"provisioner": "ebs.csi.aws.com", "parameters": {"encrypted": "true"}},
        ),
        ("kubernetes:storage.k8s.io/v1:StorageClass", {"provisioner": "efs.csi.aws.com"}),
    ],
)
def test_an_encrypted_disk_or_karpenters_default_passes(kind: str, props: Props) -> None:
    assert messages("private-by-default", {"d": (kind, props)}) == []


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"httpTokens": "required", "httpPutResponseHopLimit": 1}, True),
        ({"httpTokens": "required"}, True),
        ({}, True),
        ({"httpTokens": "optional"}, False),
        ({"httpPutResponseHopLimit": 2}, False),
        ({"httpEndpoint": "disabled", "httpTokens": "optional"}, True),
        (UNKNOWN, False),
    ],
)
def test_node_credentials_need_imdsv2_at_hop_one(options: object, passes: bool) -> None:
    found = messages("private-by-default", {"class": node_class(metadataOptions=options)})
    assert (found == []) is passes


def test_a_launch_template_without_metadata_options_is_refused() -> None:
    program: Program = {"t": ("aws:ec2/launchTemplate:LaunchTemplate", {})}
    assert "httpTokens" in messages("private-by-default", program)[0]


def test_a_program_without_any_of_these_is_not_applicable() -> None:
    assert judged("private-by-default", {"n": ("kubernetes:core/v1:Namespace", {})}) == [
        ("", "not applicable")
    ]


def test_two_buckets_are_told_apart() -> None:
    program = edited(bucket_parts(), "weights", lambda props: props.update(bucket="weights"))
    program["logs"] = ("aws:s3/bucket:Bucket", {"bucket": "logs"})
    found: set[Any] = {name for name, _ in judged("private-by-default", program)}
    assert found == {"logs"}


def test_a_policy_that_waits_for_its_own_new_bucket_is_left_to_the_update() -> None:
    program = bucket_parts()
    program["tls"][1]["policy"] = UNKNOWN
    own = {"tls": {"bucket": "weights", "policy": "weights"}}
    assert judged("private-by-default", program, sources=own) == []
    foreign = {"tls": {"bucket": "weights", "policy": "block"}}
    assert len(judged("private-by-default", program, sources=foreign)) == 1
