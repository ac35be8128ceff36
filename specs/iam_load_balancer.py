"""Rights of the AWS Load Balancer Controller, from its published v3 policy without the WAF, Shield and Cognito
parts that this program switches off; every change is bound to the cluster's tag."""

from __future__ import annotations

from specs.iam import Document, allow, document
from specs.names import Names

CLUSTER_TAG = "elbv2.k8s.aws/cluster"


def load_balancer_controller(names: Names, region: str) -> Document:
    """One policy document; fits IAM's 6,144 characters of a managed policy."""
    groups = [f"arn:aws:ec2:{region}:*:security-group/*"]
    own = {"StringEquals": {f"aws:ResourceTag/{CLUSTER_TAG}": names.cluster}}
    born = {"StringEquals": {f"aws:RequestTag/{CLUSTER_TAG}": names.cluster}}
    shared = {"StringEquals": {f"aws:ResourceTag/kubernetes.io/cluster/{names.cluster}": "owned"}}
    rules = ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"]
    return document(
        allow(
            "CreateServiceLinkedRole",
            ["iam:CreateServiceLinkedRole"],
            ["arn:aws:iam::*:role/aws-service-role/elasticloadbalancing.amazonaws.com/*"],
            {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
        ),
        _read(region),
        allow("OwnGroupRules", rules, groups, own),
        # The controller opens the nodes' shared group to its balancers.
        allow("ClusterGroupRules", rules, groups, shared),
        allow("CreateGroup", ["ec2:CreateSecurityGroup"], [*groups, f"arn:aws:ec2:{region}:*:vpc/*"]),
        allow(
            "TagNewGroup",
            ["ec2:CreateTags"],
            groups,
            {"StringEquals": {**born["StringEquals"], "ec2:CreateAction": "CreateSecurityGroup"}},
        ),
        allow("OwnGroups", ["ec2:CreateTags", "ec2:DeleteTags", "ec2:DeleteSecurityGroup"], groups, own),
        allow("Create", [_elb("CreateLoadBalancer"), _elb("CreateTargetGroup")], _arns(region, "*"), born),
        allow(
            "TagNew",
            [_elb("AddTags")],
            _arns(region, "loadbalancer/app/*", "loadbalancer/net/*", "targetgroup/*"),
            {
                "StringEquals": {
                    **born["StringEquals"],
                    "elasticloadbalancing:CreateAction": ["CreateTargetGroup", "CreateLoadBalancer"],
                }
            },
        ),
        # Listeners and rules are made with their tags (controller's gate ListenerRulesTagging, on by default): AWS
        # asks for AddTags on what does not exist yet and so has no tag of its own.
        allow(
            "TagNewListener",
            [_elb("AddTags")],
            _arns(region, "listener/app/*", "listener/net/*", "listener-rule/app/*", "listener-rule/net/*"),
            born,
        ),
        allow("Own", [_elb(action) for action in _CHANGES], _arns(region, "*"), own),
        allow(
            "Targets",
            [_elb("RegisterTargets"), _elb("DeregisterTargets")],
            _arns(region, "targetgroup/*"),
            own,
        ),
    )


_CHANGES = (
    "AddListenerCertificates", "AddTags", "CreateListener", "CreateRule", "DeleteListener", "DeleteLoadBalancer",
    "DeleteRule", "DeleteTargetGroup", "ModifyListener", "ModifyListenerAttributes", "ModifyLoadBalancerAttributes",
    "ModifyRule", "ModifyTargetGroup", "ModifyTargetGroupAttributes", "RemoveListenerCertificates", "RemoveTags",
    "SetIpAddressType", "SetRulePriorities", "SetSecurityGroups", "SetSubnets",
)  # fmt: skip
_EC2_READS = (
    "AccountAttributes", "Addresses", "AvailabilityZones", "Instances", "InternetGateways", "IpamPools",
    "NetworkInterfaces", "RouteTables", "SecurityGroups", "Subnets", "Tags", "VpcPeeringConnections", "Vpcs",
)  # fmt: skip
_ELB_READS = (
    "CapacityReservation", "ListenerAttributes", "ListenerCertificates", "Listeners", "LoadBalancerAttributes",
    "LoadBalancers", "Rules", "SSLPolicies", "Tags", "TargetGroupAttributes", "TargetGroups", "TargetHealth",
    "TrustStores",
)  # fmt: skip


def _elb(action: str) -> str:
    return f"elasticloadbalancing:{action}"


def _arns(region: str, *kinds: str) -> list[str]:
    return [f"arn:aws:elasticloadbalancing:{region}:*:{kind}" for kind in kinds]


def _read(region: str) -> Document:
    actions = [f"ec2:Describe{what}" for what in _EC2_READS]
    actions += ["ec2:GetCoipPoolUsage", "ec2:DescribeCoipPools", "ec2:GetSecurityGroupsForVpc"]
    actions += [_elb(f"Describe{what}") for what in _ELB_READS]
    actions += ["acm:ListCertificates", "acm:DescribeCertificate"]
    return allow("Read", actions, conditions={"StringEquals": {"aws:RequestedRegion": region}})
