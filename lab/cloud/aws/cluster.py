"""EKS: the cluster, its nodes, add-ons and who may enter."""

import base64

from lab.cloud.asked import Asked
from lab.cloud.aws.kind import CREATED, Kind, Naming, by, prefixed
from lab.cloud.wire import Properties

DEFAULT_VERSION = "1.36"
"""What EKS gives a cluster whose version is not stated (endoflife.date/amazon-eks, 2026-11)."""


def _cluster(asked: Asked, identity: str) -> Properties:
    unique = asked.hex(32, "oidc").upper()
    authority = f"-----BEGIN CERTIFICATE-----\nrecorded cloud, {identity}\n-----END CERTIFICATE-----\n"
    return {
        "arn": asked.arn("eks", f"cluster/{identity}"),
        "certificateAuthority": {"data": base64.b64encode(authority.encode()).decode()},
        "createdAt": CREATED,
        "endpoint": f"https://{unique}.gr7.{asked.region}.eks.amazonaws.com",
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{asked.region}.amazonaws.com/id/{unique}"}]}],
        "platformVersion": "eks.9",
        "status": "ACTIVE",
        "version": asked.text("version", DEFAULT_VERSION),
        "accessConfig": {"authenticationMode": "CONFIG_MAP"} | asked.object("accessConfig"),
        "upgradePolicy": {"supportType": "EXTENDED"} | asked.object("upgradePolicy"),
        "kubernetesNetworkConfig": {"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"}
        | asked.object("kubernetesNetworkConfig"),
        "vpcConfig": {
            "endpointPrivateAccess": False,
            "endpointPublicAccess": True,
            **asked.object("vpcConfig"),
            "clusterSecurityGroupId": f"sg-0{asked.hex(16, 'sg')}",
            "vpcId": f"vpc-0{asked.hex(16, 'vpc')}",
        },
    }


def _nodes(asked: Asked, identity: str) -> Properties:
    del identity
    cluster, group = asked.text("clusterName"), asked.text("nodeGroupName")
    unique = asked.hex(32, "ng")
    return {
        "arn": asked.arn("eks", f"nodegroup/{cluster}/{group}/{unique}"),
        "resources": [
            {"autoscalingGroups": [{"name": f"eks-{group}-{unique}"}], "remoteAccessSecurityGroupId": ""}
        ],
        "status": "ACTIVE",
        "amiType": "AL2023_x86_64_STANDARD",
        "capacityType": "ON_DEMAND",
        "diskSize": 20,
        "version": DEFAULT_VERSION,
        "releaseVersion": f"{asked.text('version', DEFAULT_VERSION)}.0-20261101",
    }


def _entry(asked: Asked, identity: str) -> Properties:
    del identity
    principal = asked.text("principalArn").rpartition("/")[2]
    cluster = asked.text("clusterName")
    return {
        "accessEntryArn": asked.arn(
            "eks", f"access-entry/{cluster}/role/{principal}/{asked.hex(32, 'entry')}"
        ),
        "createdAt": CREATED,
        "modifiedAt": CREATED,
        "type": "STANDARD",
        "userName": asked.text("principalArn"),
        "kubernetesGroups": [],
    }


def _association(asked: Asked, identity: str) -> Properties:
    return {
        "associationArn": asked.arn("eks", f"podidentityassociation/{asked.text('clusterName')}/{identity}"),
        "associationId": identity,
        "disableSessionTags": False,
    }


KINDS: dict[str, Kind] = {
    "aws:eks/cluster:Cluster": Kind(
        identity=by("name"),
        adds=_cluster,
        forced="name roleArn accessConfig.bootstrapClusterCreatorAdminPermissions bootstrapSelfManagedAddons"
        " kubernetesNetworkConfig.ipFamily kubernetesNetworkConfig.serviceIpv4Cidr outpostConfig"
        " remoteNetworkConfig -encryptionConfig",
        naming=Naming(key="name", limit=100),
    ),
    "aws:eks/nodeGroup:NodeGroup": Kind(
        identity=by("clusterName", "nodeGroupName"),
        adds=_nodes,
        forced="clusterName nodeGroupName nodeGroupNamePrefix nodeRoleArn subnetIds amiType capacityType"
        " diskSize instanceTypes remoteAccess launchTemplate.id launchTemplate.name",
        naming=Naming(key="nodeGroupName", limit=63),
    ),
    "aws:eks/addon:Addon": Kind(
        identity=by("clusterName", "addonName"),
        adds=lambda asked, identity: {  # noqa: ARG005
            "arn": asked.arn(
                "eks", f"addon/{asked.text('clusterName')}/{asked.text('addonName')}/{asked.hex(32, 'addon')}"
            ),
            "createdAt": CREATED,
            "modifiedAt": CREATED,
            "addonVersion": f"v1.{asked.number(20)}.{asked.number(9, 'patch')}-eksbuild.1",
        },
        forced="clusterName addonName namespaceConfig",
        deletes_first=True,
    ),
    "aws:eks/accessEntry:AccessEntry": Kind(
        identity=by("clusterName", "principalArn"),
        adds=_entry,
        forced="clusterName principalArn type",
        deletes_first=True,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Kind(
        identity=by("clusterName", "principalArn", "policyArn", between="#"),
        adds=lambda asked, identity: {"associatedAt": CREATED, "modifiedAt": CREATED},  # noqa: ARG005
        forced="clusterName principalArn policyArn accessScope",
        tagged=False,
        deletes_first=True,
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Kind(
        identity=prefixed("a"),
        adds=_association,
        forced="clusterName namespace serviceAccount",
        deletes_first=True,
    ),
}
