"""Weights on EFS and FSx: a static, read-only volume."""

from __future__ import annotations

import pytest

from specs.weights_volume import mounted, persistent_volume, persistent_volume_claim
from tests.unit.specs.stack import dig, only, settings

EFS = {"volumeHandle": "fs-0123456789abcdef0"}
FSX = EFS | {"dnsname": "fs-0.fsx.us-east-1.amazonaws.com", "mountname": "abcdefgh", "zone": "us-east-1a"}


@pytest.mark.parametrize(
    ("backend", "is_mounted"), [("efs", True), ("fsx", True), ("s3", False), ("hub", False)]
)
def test_only_file_systems_are_mounted(backend: str, is_mounted: bool) -> None:
    assert mounted(settings({}, weights={"backend": backend})) is is_mounted


@pytest.mark.parametrize(
    ("backend", "driver", "handles"),
    [("efs", "efs.csi.aws.com", EFS), ("fsx", "fsx.csi.aws.com", FSX)],
)
def test_volume_and_claim_are_made_for_each_other(
    backend: str, driver: str, handles: dict[str, object]
) -> None:
    found = settings({}, weights={"backend": backend})
    volume = persistent_volume(found, only(found), handles)
    claim = persistent_volume_claim(only(found))
    assert dig(volume, "spec", "csi", "driver") == driver
    assert dig(volume, "spec", "csi", "volumeHandle") == handles["volumeHandle"]
    assert dig(volume, "spec", "claimRef", "name") == dig(claim, "metadata", "name")
    assert dig(claim, "spec", "volumeName") == dig(volume, "metadata", "name")
    assert dig(volume, "spec", "storageClassName") == dig(claim, "spec", "storageClassName") == ""
    assert dig(volume, "spec", "accessModes") == dig(claim, "spec", "accessModes") == ["ReadOnlyMany"]


def test_lustre_is_mounted_by_its_dns_name() -> None:
    found = settings({}, weights={"backend": "fsx"})
    attributes = dig(persistent_volume(found, only(found), FSX), "spec", "csi", "volumeAttributes")
    assert attributes == {"dnsname": FSX["dnsname"], "mountname": FSX["mountname"]}


def test_a_file_system_of_one_zone_keeps_its_pods_there() -> None:
    found = settings({}, weights={"backend": "fsx"})
    spec = persistent_volume(found, only(found), FSX)["spec"]
    (term,) = dig(spec, "nodeAffinity", "required", "nodeSelectorTerms")
    assert term["matchExpressions"][0]["values"] == ["us-east-1a"]


def test_the_weights_outlive_the_model() -> None:
    found = settings({}, weights={"backend": "efs"})
    volume = persistent_volume(found, only(found), EFS)
    assert dig(volume, "spec", "persistentVolumeReclaimPolicy") == "Retain"
