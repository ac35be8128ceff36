"""What an upgrade takes away: which steps remove something that is there, and what must never be among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lab.cloud.outcome import Step

REMOVING: Final = {"replace", "create-replacement", "delete-replaced", "delete", "discard"}
KEPT_TYPES: Final = {
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:efs/fileSystem:FileSystem",
    "aws:eks/cluster:Cluster",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:kms/key:Key",
    "aws:s3/bucket:Bucket",
    "kubernetes:core/v1:Namespace",
    "kubernetes:core/v1:PersistentVolume",
    "kubernetes:core/v1:PersistentVolumeClaim",
    "pulumi:providers:kubernetes",
}
"""Data, and what takes data with it: a namespace its objects, a provider all that it made."""
KEPT_RELEASES: Final = {"karpenter-crd", "keda", "prometheus"}
"""Their CRDs go with them, and every object of their kinds with those."""


def removed(steps: Iterable[Step]) -> list[str]:
    """Type and name of each resource that would be replaced or deleted, in order, once."""
    return sorted({f"{step.type} {step.name}" for step in steps if step.op in REMOVING})


def lost(steps: Iterable[Step]) -> list[str]:
    """Those among them that must stay."""
    return removed(
        step
        for step in steps
        if step.type in KEPT_TYPES or (step.type.endswith(":Release") and step.name in KEPT_RELEASES)
    )
