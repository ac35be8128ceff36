"""The security groups that the plugin makes unless `skipDefaultSecurityGroups`."""

from typing import Any

from lab.cloud.eks.monitor import Monitor, Registered
from lab.cloud.eks.values import derived, merged

_GROUP = "aws:ec2/securityGroup:SecurityGroup"
_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
_OUT = {
    "description": "Allow internet access.",
    "type": "egress",
    "fromPort": 0,
    "toPort": 0,
    "protocol": "-1",
    "cidrBlocks": ["0.0.0.0/0"],
}


def cluster_group(monitor: Monitor, name: str, args: dict[str, Any], parent: str) -> Registered:
    """The control plane's group, with a way out."""
    own = {"Name": f"{name}-eksClusterSecurityGroup"}
    tags = merged(own, args.get("clusterSecurityGroupTags"), args.get("tags"))
    group = monitor.resource(
        _GROUP,
        f"{name}-eksClusterSecurityGroup",
        {"vpcId": args.get("vpcId"), "revokeRulesOnDelete": True, "tags": tags},
        parent=parent,
    )
    monitor.resource(
        _RULE,
        f"{name}-eksClusterInternetEgressRule",
        {**_OUT, "securityGroupId": group.get("id")},
        parent=parent,
    )
    return group


def node_group(
    monitor: Monitor, name: str, args: dict[str, Any], cluster: Registered, control: Any, parent: str
) -> tuple[Registered, Registered]:
    """The nodes' group with its rules, and the rule that lets them reach the API server."""
    owned = derived(_owned, cluster.get("name"))
    tags = merged(
        {"Name": f"{name}-nodeSecurityGroup"}, owned, args.get("nodeSecurityGroupTags"), args.get("tags")
    )
    group = monitor.resource(
        _GROUP,
        f"{name}-nodeSecurityGroup",
        {"vpcId": args.get("vpcId"), "revokeRulesOnDelete": True, "tags": tags},
        parent=parent,
    )
    nodes = group.get("id")

    def rule(suffix: str, inputs: dict[str, Any]) -> Registered:
        return monitor.resource(_RULE, f"{name}-{suffix}", inputs, parent=parent)

    def ingress(
        description: str, first: int, last: int, protocol: str, to: Any, source: Any
    ) -> dict[str, Any]:
        ports = {"fromPort": first, "toPort": last, "protocol": protocol}
        return {"description": description, "type": "ingress", **ports, "securityGroupId": to} | source

    rule(
        "eksNodeIngressRule",
        ingress("Allow nodes to communicate with each other", 0, 0, "-1", nodes, {"self": True}),
    )
    from_control = {"sourceSecurityGroupId": control}
    kubelets = "Allow worker Kubelets and pods to receive communication from the cluster control plane"
    rule("eksNodeClusterIngressRule", ingress(kubelets, 1025, 65535, "tcp", nodes, from_control))
    extensions = (
        "Allow pods running extension API servers on port 443 to receive communication from"
        " cluster control plane"
    )
    rule("eksExtApiServerClusterIngressRule", ingress(extensions, 443, 443, "tcp", nodes, from_control))
    rule("eksNodeInternetEgressRule", {**_OUT, "securityGroupId": nodes})
    reach = "Allow pods to communicate with the cluster API Server"
    back = rule(
        "eksClusterIngressRule", ingress(reach, 443, 443, "tcp", control, {"sourceSecurityGroupId": nodes})
    )
    return group, back


def _owned(cluster: str) -> dict[str, str]:
    return {f"kubernetes.io/cluster/{cluster}": "owned"}
