"""The shared file system of weight backends efs and fsx: made for `Weights`, mounted by every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from specs import iam
from specs.control_plane import ADDON_NAMESPACE
from specs.names import Names
from specs.network import tags
from specs.settings.stack import Settings

# Smallest FSx for Lustre size with SSD, and 250 MB/s per TiB: 300 MB/s for a fleet that starts together.
FSX_GIB = 1200
FSX_MBPS_PER_TIB = 250
EFS_SERVICE_ACCOUNT = "efs-csi-controller-sa"
CSI = {"efs": "aws-efs-csi-driver", "fsx": "aws-fsx-csi-driver"}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the file system stands and who may delete it."""

    settings: Settings
    names: Names
    private_subnet_ids: Sequence[pulumi.Input[str]]
    security_group_id: pulumi.Input[str]
    key_arn: pulumi.Input[str] | None
    kept: pulumi.ResourceOptions
    """Options of what holds data: protected and retained as the settings say."""
    own: pulumi.ResourceOptions
    after: pulumi.ResourceOptions
    """Options of what needs nodes."""


Handles = Mapping[str, pulumi.Input[str]]


def file_system(place: Place) -> tuple[Handles, list[pulumi.Resource]]:
    """The handles of `specs.weights_volume.persistent_volume`, and what must exist before a pod mounts it."""
    if place.settings.weights.backend == "efs":
        return _efs(place)
    return _fsx(place)


def _efs(place: Place) -> tuple[Handles, list[pulumi.Resource]]:
    volume = aws.efs.FileSystem(
        "weights",
        encrypted=True,
        kms_key_id=place.key_arn,
        throughput_mode="elastic",
        tags=tags(place.names) | {"Name": f"{place.names.cluster}-weights"},
        opts=place.kept,
    )
    targets: list[pulumi.Resource] = [
        aws.efs.MountTarget(
            f"weights-{zone}",
            file_system_id=volume.id,
            subnet_id=subnet,
            security_groups=[place.security_group_id],
            opts=place.own,
        )
        for zone, subnet in zip(place.settings.zones, place.private_subnet_ids, strict=True)
    ]
    role = aws.iam.Role(
        "weights-driver",
        name=place.names.role("weights-driver"),
        assume_role_policy=pulumi.Output.json_dumps(
            iam.pod_identity_trust(place.names, ADDON_NAMESPACE, EFS_SERVICE_ACCOUNT)
        ),
        tags=tags(place.names),
        opts=place.own,
    )
    aws.iam.RolePolicyAttachment(
        "weights-driver",
        role=role.name,
        policy_arn=iam.managed("service-role/AmazonEFSCSIDriverPolicy"),
        opts=place.own,
    )
    driver = _driver(place, {"service_account": EFS_SERVICE_ACCOUNT, "role_arn": role.arn})
    return {"volumeHandle": volume.id}, [*targets, driver]


def _fsx(place: Place) -> tuple[Handles, list[pulumi.Resource]]:
    volume = aws.fsx.LustreFileSystem(
        "weights",
        storage_capacity=FSX_GIB,
        deployment_type="PERSISTENT_2",
        per_unit_storage_throughput=FSX_MBPS_PER_TIB,
        kms_key_id=place.key_arn,
        subnet_ids=place.private_subnet_ids[0],
        security_group_ids=[place.security_group_id],
        tags=tags(place.names) | {"Name": f"{place.names.cluster}-weights"},
        opts=place.kept,
    )
    handles: Handles = {
        "volumeHandle": volume.id,
        "dnsname": volume.dns_name,
        "mountname": volume.mount_name,
        "zone": place.settings.zones[0],  # Lustre lives in one zone
    }
    return handles, [volume, _driver(place, None)]


def _driver(place: Place, identity: aws.eks.AddonPodIdentityAssociationArgsDict | None) -> pulumi.Resource:
    return aws.eks.Addon(
        "weights-driver",
        cluster_name=place.names.cluster,
        addon_name=CSI[place.settings.weights.backend],
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        pod_identity_associations=[identity] if identity else None,
        tags=tags(place.names),
        opts=place.after,
    )
