"""The cluster: what waits for what, who may reach it, and nothing of AWS where one exists."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from components.cluster import Cluster, ClusterArgs
from specs import nodes
from specs.names import Names
from specs.network import CONTROL_PLANE_PORTS
from specs.settings import Settings
from specs.versions import EKS_DEPRECATED, EKS_SUPPORTED
from tests.unit.components import aws
from tests.unit.components.recording import Recording, record
from tests.unit.specs.stack import dig, settings

NAMES = Names("unit")


@cache
def plain() -> Recording:
    """Of a stack with nothing out of the ordinary."""
    return declared()


def declared(found: Settings | None = None, **cluster: Any) -> Recording:
    chosen = found or settings({}, cluster=cluster)

    def program() -> None:
        network = aws.vpc() if chosen.cluster.mode == "eks" else None
        Cluster("cluster", ClusterArgs(settings=chosen, names=NAMES, network=network))

    return record(program)


def existing(**cluster: Any) -> Recording:
    return declared(settings({}, cluster={"mode": "existing", **cluster}, weights={"backend": "hub"}))


def test_the_endpoint_is_what_the_settings_say_and_not_the_sdks_default() -> None:
    """pulumi-eks 4.4 opens the public endpoint and closes the private one unless told."""
    made = plain().one("Cluster", "control-plane").inputs
    assert (made["endpointPublicAccess"], made["endpointPrivateAccess"]) == (False, True)
    assert "publicAccessCidrs" not in made
    opened = declared(endpoint={"public": True, "publicCidrs": ["203.0.113.0/24"], "private": True})
    assert opened.one("Cluster", "control-plane").inputs["publicAccessCidrs"] == ["203.0.113.0/24"]


def test_support_protection_logs_and_encryption_are_stated() -> None:
    made = declared(deletionProtection=False).one("Cluster", "control-plane").inputs
    assert made["upgradePolicy"] == {"supportType": "STANDARD"}
    assert made["deletionProtection"] is False
    assert len(made["enabledClusterLogTypes"]) == 5
    assert "encryptionConfigKeyArn" in made
    assert made["authenticationMode"] == "API"


def test_every_node_shares_the_group_that_eks_makes() -> None:
    """KP17, KP19: two groups would need rules between them, DNS included."""
    found = plain()
    made = found.one("Cluster", "control-plane").inputs
    assert (made["skipDefaultNodeGroup"], made["skipDefaultSecurityGroups"]) == (True, True)
    assert found.all("SecurityGroup") == []
    tag = found.one("Tag").inputs
    assert {tag["key"]: tag["value"]} == {nodes.DISCOVERY: NAMES.cluster}
    [term] = dig(nodes.node_class(NAMES, settings().gpu_pools[0]), "spec", "securityGroupSelectorTerms")
    assert term["tags"] == {tag["key"]: tag["value"]}


@pytest.mark.parametrize("version", [*EKS_DEPRECATED, *EKS_SUPPORTED])
def test_no_version_is_asked_of_eks_while_building(version: str) -> None:
    """pulumi-eks asks for the newest add-on whose version is not stated; kube-proxy follows its control plane."""
    made = declared(version=version).one("Cluster", "control-plane").inputs
    assert made["vpcCniOptions"]["addonVersion"].startswith("v")
    assert made["kubeProxyAddonOptions"]["version"].startswith(f"v{version}.")


@pytest.mark.parametrize("port", sorted(CONTROL_PLANE_PORTS))
def test_the_control_plane_reaches_each_port_of_the_nodes(port: int) -> None:
    """KD17."""
    rule = plain().one("SecurityGroupIngressRule", f"control-plane-{port}").inputs
    assert (rule["fromPort"], rule["toPort"], rule["ipProtocol"]) == (port, port, "tcp")


def test_karpenters_nodes_may_join() -> None:
    """KP14: without an entry the kubelet is Unauthorized for ever."""
    found = plain()
    assert found.one("AccessEntry").inputs["type"] == "EC2_LINUX"
    role = found.one("Role", "gpu-node").inputs
    assert role["name"] == dig(nodes.node_class(NAMES, settings().gpu_pools[0]), "spec", "role")
    assert {
        entry.name for entry in found.all("RolePolicyAttachment") if entry.name.startswith("gpu-node")
    } >= {"gpu-node-AmazonEKSWorkerNodePolicy", "gpu-node-AmazonEKS_CNI_Policy"}


@pytest.mark.parametrize("addon", ["coredns", "eks-node-monitoring-agent", "aws-ebs-csi-driver"])
def test_add_ons_with_pods_of_their_own_wait_for_nodes(addon: str) -> None:
    """PU15: CoreDNS without a node is DEGRADED for twenty minutes."""
    found = plain()
    assert "NodeGroup system" in found.waits_for(found.one("Addon", addon))


def test_nodes_find_the_identity_agent_there() -> None:
    found = plain()
    waits = found.waits_for(found.one("NodeGroup"))
    assert "Addon eks-pod-identity-agent" in waits
    assert "RolePolicyAttachment system-node-AmazonEKS_CNI_Policy" in waits
    assert "Route way-out" in found.waits_for(found.one("Cluster", "control-plane"))


def test_system_nodes_keep_pods_from_their_credentials_and_their_disk_sealed() -> None:
    template = plain().one("LaunchTemplate").inputs
    options = template["metadataOptions"]
    assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)
    [disk] = template["blockDeviceMappings"]
    assert (disk["ebs"]["encrypted"], disk["ebs"]["volumeType"]) == ("true", "gp3")


def test_system_nodes_take_any_controller_and_bear_the_label_it_selects() -> None:
    group = plain().one("NodeGroup").inputs
    assert group["labels"] == {"headroom.dev/role": "system"}
    assert "taints" not in group
    assert group["amiType"] == "AL2023_x86_64_STANDARD"


def test_a_raised_minimum_raises_the_wanted_size_with_it() -> None:
    """EKS refuses a minimum above the wanted size, which a program that ignores it would send."""
    group = declared(systemNodes={"min": 3, "max": 6}).one("NodeGroup")
    assert group.inputs["scalingConfig"] == {"minSize": 3, "desiredSize": 3, "maxSize": 6}
    assert group.ignored == ()


def test_the_provider_is_replaced_by_another_cluster_only() -> None:
    """PU2: a kubeconfig that changed or is not known must not replace everything in the cluster."""
    [made] = [entry for entry in plain().entries if entry.type == "pulumi:providers:kubernetes"]
    assert made.inputs["clusterIdentifier"] == NAMES.cluster


def test_namespaces_wait_for_nodes() -> None:
    """On destroy they empty while there is still a cluster to do it."""
    found = plain()
    assert {entry.name for entry in found.all("Namespace")} == {
        "gpu-system",
        "keda",
        "llm-serving",
        "monitoring",
    }
    for entry in found.all("Namespace"):
        assert "NodeGroup system" in found.waits_for(entry)


def test_an_existing_cluster_gets_nothing_of_aws() -> None:
    found = existing()
    assert [entry.type for entry in found.entries if entry.type.startswith(("aws:", "eks:"))] == []
    assert "llm-serving" in {entry.name for entry in found.all("Namespace")}


def test_an_existing_cluster_is_reached_by_its_context() -> None:
    [made] = [
        entry for entry in existing(kubeContext="lab").entries if entry.type.startswith("pulumi:providers")
    ]
    assert made.inputs["context"] == "lab"
    assert "kubeconfig" not in made.inputs


def test_the_disk_driver_gets_its_rights_by_pod_identity() -> None:
    found = plain()
    driver = found.one("Addon", "aws-ebs-csi-driver").inputs
    assert [entry["serviceAccount"] for entry in driver["podIdentityAssociations"]] == [
        "ebs-csi-controller-sa"
    ]
    assert json.loads(driver["configurationValues"])["defaultStorageClass"] == {"enabled": True}
    assert "pods.eks.amazonaws.com" in found.one("Role", "disks").inputs["assumeRolePolicy"]
