"""The weights: a sealed bucket and one reader a model, or a file system, or nothing."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pulumi
import pytest

from components.weights import Weights, WeightsArgs
from specs.names import Names
from specs.settings import Settings
from tests.unit.components import aws
from tests.unit.components.recording import Recording, namespaces, provider, record
from tests.unit.specs.stack import settings

NAMES = Names("unit")
FEW = {"replicas": {"min": 1, "max": 2}}
BUCKET = "headroom-unit-weights-us-east-1"
GUARDS = (
    "BucketPublicAccessBlock",
    "BucketOwnershipControls",
    "BucketVersioning",
    "BucketServerSideEncryptionConfiguration",
    "BucketLifecycleConfiguration",
    "BucketPolicy",
)


@cache
def plain() -> Recording:
    """Of a stack with nothing out of the ordinary."""
    return declared()


def declared(*models: dict[str, Any], zones: tuple[str, ...] = (), **weights: Any) -> Recording:
    sections: dict[str, Any] = {"weights": weights}
    if zones:
        sections["network"] = {"zones": list(zones)}
    return of(settings(*models, **sections))


def of(found: Settings) -> Recording:
    def program() -> None:
        using = provider()
        spaces = {model.namespace for model in found.active_models}
        made = Weights(
            "weights",
            WeightsArgs(
                settings=found,
                names=NAMES,
                network=aws.vpc(len(found.zones)),
                security_group_id=pulumi.Output.from_input("sg-cluster"),
                namespaces=namespaces(*sorted(spaces), using=using),
                ready=[aws.agent()],
            ),
        )
        assert made.ready.keys() == {model.name for model in found.active_models}
        assert (made.bucket_name is None) is (found.weights.backend != "s3")
        assert (made.volume is None) is (found.weights.backend not in {"efs", "fsx"})

    return record(program)


def names_of(found: Recording, kind: str) -> list[str]:
    return [entry.name for entry in found.all(kind)]


def test_the_bucket_is_private_versioned_and_sealed_with_the_stacks_own_key() -> None:
    found = plain()
    block = found.one("BucketPublicAccessBlock").inputs
    assert all(block[key] for key in block if key.startswith(("block", "ignore", "restrict")))
    assert found.one("BucketVersioning").inputs["versioningConfiguration"] == {"status": "Enabled"}
    [rule] = found.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    assert rule["bucketKeyEnabled"] is True
    assert found.one("Key").inputs["enableKeyRotation"] is True
    assert found.one("Alias").inputs["name"] == NAMES.weights_alias


def test_without_a_key_of_its_own_the_bucket_is_still_encrypted() -> None:
    found = declared(kms=False)
    [rule] = found.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {"sseAlgorithm": "AES256"}
    assert found.all("Key") == []
    assert "kms:Decrypt" not in found.one("RolePolicy").inputs["policy"]


def test_requests_without_tls_are_refused() -> None:
    [statement] = json.loads(plain().one("BucketPolicy").inputs["policy"])["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Resource"] == [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_abandoned_uploads_are_not_paid_for_ever() -> None:
    [rule] = plain().one("BucketLifecycleConfiguration").inputs["rules"]
    assert rule["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}


@pytest.mark.parametrize("kind", ["Bucket", "Key"])
@pytest.mark.parametrize("kept", [True, False])
def test_data_outlives_the_stack_where_wanted(kind: str, kept: bool) -> None:
    entry = declared(bucketRetain=kept).one(kind)
    assert (entry.protected, entry.retained) == (kept, kept)


@pytest.mark.parametrize("kind", GUARDS)
@pytest.mark.parametrize("kept", [True, False])
def test_a_kept_buckets_guards_stay_with_it(kind: str, kept: bool) -> None:
    """Destroyed, they would leave the kept weights without TLS, encryption or a block of public access."""
    assert declared(bucketRetain=kept).one(kind).retained is kept


def test_a_bucket_that_may_go_is_emptied_by_the_destroy() -> None:
    assert declared(bucketRetain=False).one("Bucket").inputs["forceDestroy"] is True
    assert declared(bucketRetain=True).one("Bucket").inputs["forceDestroy"] is False


def test_each_enabled_model_reads_its_own_weights_as_its_own_service_account() -> None:
    found = declared(
        {"name": "a", **FEW}, {"name": "b", "namespace": "other", **FEW}, {"name": "c", "enabled": False}
    )
    readers = {
        entry.name: (entry.inputs["namespace"], entry.inputs["serviceAccount"])
        for entry in found.all("PodIdentityAssociation")
    }
    assert readers == {"a-weights": ("llm-serving", "a"), "b-weights": ("other", "b")}
    for name, other in (("a", "b"), ("b", "a")):
        policy = found.one("RolePolicy", f"{name}-weights").inputs["policy"]
        assert f"models/{name}/" in policy
        assert f"models/{other}/" not in policy


def test_an_association_waits_for_the_rights_and_the_namespace_that_waits_for_the_agent() -> None:
    """Credentials come into a pod when it starts."""
    found = plain()
    waits = found.waits_for(found.one("PodIdentityAssociation"))
    assert {"RolePolicy llama3-8b-weights", "Namespace llm-serving"} <= waits


def test_a_stated_bucket_is_used_in_every_document() -> None:
    found = declared(bucketName="my-weights-2026")
    assert found.one("Bucket").inputs["bucket"] == "my-weights-2026"
    assert "arn:aws:s3:::my-weights-2026/models/llama3-8b/*" in found.one("RolePolicy").inputs["policy"]
    assert BUCKET not in json.dumps([dict(entry.inputs) for entry in found.entries])


@pytest.mark.parametrize("backend", ["hub", "image"])
def test_weights_from_elsewhere_need_nothing_of_aws(backend: str) -> None:
    found = declared(backend=backend)
    assert [entry.name for entry in found.entries if entry.type.startswith("aws:")] == ["way-out", "agent"]


def test_a_shared_file_system_is_reached_from_every_zone() -> None:
    found = declared(backend="efs", zones=("us-east-1a", "us-east-1b"))
    assert names_of(found, "MountTarget") == ["weights-us-east-1a", "weights-us-east-1b"]
    assert [entry.inputs["subnetId"] for entry in found.all("MountTarget")] == [
        "subnet-private-0",
        "subnet-private-1",
    ]
    assert {tuple(entry.inputs["securityGroups"]) for entry in found.all("MountTarget")} == {("sg-cluster",)}
    assert found.one("FileSystem").inputs["encrypted"] is True
    assert found.one("Addon", "weights-driver").inputs["addonName"] == "aws-efs-csi-driver"
    assert found.all("Bucket") == []


def test_a_lustre_file_system_lies_in_one_zone() -> None:
    found = declared(backend="fsx")
    assert found.one("LustreFileSystem").inputs["subnetIds"] == "subnet-private-0"
    assert found.one("Addon", "weights-driver").inputs["addonName"] == "aws-fsx-csi-driver"
    assert found.all("Bucket") == []


@pytest.mark.parametrize(("backend", "kind"), [("efs", "FileSystem"), ("fsx", "LustreFileSystem")])
def test_a_file_system_with_weights_is_kept_like_a_bucket(backend: str, kind: str) -> None:
    entry = declared(backend=backend).one(kind)
    assert (entry.protected, entry.retained) == (True, True)
