"""IAM documents as plain data: known at preview, scoped to this stack's names.

ARNs leave the account as `*`: a role can only act in its own account, and the account id is a question to
the cloud. Karpenter's statements follow its published controller policies (v1.15,
karpenter.sh/docs/reference/cloudformation).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specs.names import Names

Document = dict[str, object]
VERSION = "2012-10-17"
EC2_CREATED = (
    "fleet",
    "instance",
    "volume",
    "network-interface",
    "launch-template",
    "spot-instances-request",
)

NODE_POLICIES = (
    "AmazonEKS_CNI_Policy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)


def managed(policy: str) -> str:
    """ARN of an AWS managed policy."""
    return f"arn:aws:iam::aws:policy/{policy}"


def document(*statements: Mapping[str, object]) -> Document:
    """A policy document of these statements."""
    return {"Version": VERSION, "Statement": [dict(statement) for statement in statements]}


def allow(
    sid: str,
    actions: Iterable[str],
    resources: Iterable[object] = ("*",),
    conditions: Mapping[str, Mapping[str, object]] | None = None,
) -> Document:
    """One Allow statement."""
    statement: Document = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }
    return statement | ({"Condition": conditions} if conditions else {})


def service_trust(service: str) -> Document:
    """Trust of an AWS service, such as ec2 or eks."""
    return document(
        {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    )


def pod_identity_trust(names: Names, namespace: str, service_account: str) -> Document:
    """Trust of EKS Pod Identity, for one service account of this cluster.

    The association says so too, but another one, of any cluster of the account, could name the same role; the
    tags are those that Pod Identity itself puts on a session (EKS user guide, pod-id-role and pod-id-abac).
    """
    tags = {
        "eks-cluster-name": names.cluster,
        "kubernetes-namespace": namespace,
        "kubernetes-service-account": service_account,
    }
    return document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {"StringEquals": {f"aws:RequestTag/{key}": value for key, value in tags.items()}},
        }
    )


def karpenter(names: Names, region: str) -> dict[str, Document]:
    """The controller's policies by purpose; each fits IAM's 6,144 characters of a managed policy."""
    return {
        "node-lifecycle": _node_lifecycle(names, region),
        "iam-integration": _iam_integration(names, region),
        "eks-integration": document(
            allow("AllowAPIServerEndpointDiscovery", ["eks:DescribeCluster"],
                  [f"arn:aws:eks:{region}:*:cluster/{names.cluster}"])
        ),
        "interruption": document(
            allow("AllowInterruptionQueueActions",
                  ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                  [f"arn:aws:sqs:{region}:*:{names.queue}"])
        ),
        "discovery": _discovery(region),
    }  # fmt: skip


def _ec2(region: str, *kinds: str, account: str = "*") -> list[str]:
    return [f"arn:aws:ec2:{region}:{account}:{kind}/*" for kind in kinds]


def _owned(names: Names, kind: str) -> dict[str, dict[str, object]]:
    """Conditions on tags that Karpenter puts on all it makes; `kind` is RequestTag or ResourceTag."""
    return {
        "StringEquals": {f"aws:{kind}/kubernetes.io/cluster/{names.cluster}": "owned"},
        "StringLike": {f"aws:{kind}/karpenter.sh/nodepool": "*"},
    }


def _requested(names: Names) -> dict[str, dict[str, object]]:
    conditions = _owned(names, "RequestTag")
    conditions["StringEquals"]["aws:RequestTag/eks:eks-cluster-name"] = names.cluster
    return conditions


def _node_lifecycle(names: Names, region: str) -> Document:
    creation = _requested(names)
    creation["StringEquals"]["ec2:CreateAction"] = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]
    tagging = _owned(names, "ResourceTag")
    tagging["StringEqualsIfExists"] = {"aws:RequestTag/eks:eks-cluster-name": names.cluster}
    tagging["ForAllValues:StringEquals"] = {
        "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
    }
    launch = ["ec2:RunInstances", "ec2:CreateFleet"]
    inputs = [
        *_ec2(region, "image", "snapshot", account=""),
        *_ec2(region, "security-group", "subnet", "capacity-reservation", "placement-group"),
    ]
    return document(
        allow("AllowScopedEC2InstanceAccessActions", launch, inputs),
        allow(
            "AllowScopedEC2LaunchTemplateAccessActions",
            launch,
            _ec2(region, "launch-template"),
            _owned(names, "ResourceTag"),
        ),
        allow(
            "AllowScopedEC2InstanceActionsWithTags",
            [*launch, "ec2:CreateLaunchTemplate"],
            _ec2(region, *EC2_CREATED),
            _requested(names),
        ),
        allow("AllowScopedResourceCreationTagging", ["ec2:CreateTags"], _ec2(region, *EC2_CREATED), creation),
        allow("AllowScopedResourceTagging", ["ec2:CreateTags"], _ec2(region, "instance"), tagging),
        allow(
            "AllowScopedDeletion",
            ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            _ec2(region, "instance", "launch-template"),
            _owned(names, "ResourceTag"),
        ),
    )


def _iam_integration(names: Names, region: str) -> Document:
    profiles = ["arn:aws:iam::*:instance-profile/*"]

    def tagged(kind: str) -> dict[str, dict[str, object]]:
        equals: dict[str, object] = {
            f"aws:{kind}/kubernetes.io/cluster/{names.cluster}": "owned",
            f"aws:{kind}/topology.kubernetes.io/region": region,
        }
        if kind == "RequestTag":
            equals[f"aws:{kind}/eks:eks-cluster-name"] = names.cluster
        return {
            "StringEquals": equals,
            "StringLike": {f"aws:{kind}/karpenter.k8s.aws/ec2nodeclass": "*"},
        }

    both = {
        "StringEquals": {**tagged("ResourceTag")["StringEquals"], **tagged("RequestTag")["StringEquals"]},
        "StringLike": {**tagged("ResourceTag")["StringLike"], **tagged("RequestTag")["StringLike"]},
    }
    return document(
        allow(
            "AllowPassingInstanceRole",
            ["iam:PassRole"],
            [f"arn:aws:iam::*:role/{names.node_role}"],
            {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        ),
        allow(
            "AllowScopedInstanceProfileCreationActions",
            ["iam:CreateInstanceProfile"],
            profiles,
            tagged("RequestTag"),
        ),
        allow("AllowScopedInstanceProfileTagActions", ["iam:TagInstanceProfile"], profiles, both),
        allow(
            "AllowScopedInstanceProfileActions",
            [
                "iam:AddRoleToInstanceProfile",
                "iam:RemoveRoleFromInstanceProfile",
                "iam:DeleteInstanceProfile",
            ],
            profiles,
            tagged("ResourceTag"),
        ),
    )


def _discovery(region: str) -> Document:
    describe = (
        "CapacityReservations", "Images", "Instances", "InstanceStatus", "InstanceTypeOfferings",
        "InstanceTypes", "LaunchTemplates", "PlacementGroups", "SecurityGroups", "SpotPriceHistory", "Subnets",
    )  # fmt: skip
    return document(
        allow(
            "AllowRegionalReadActions",
            [f"ec2:Describe{what}" for what in describe],
            conditions={"StringEquals": {"aws:RequestedRegion": region}},
        ),
        allow(
            "AllowSSMReadActions", ["ssm:GetParameter"], [f"arn:aws:ssm:{region}::parameter/aws/service/*"]
        ),
        # Neither of these two actions takes a narrower resource (service authorization reference).
        allow("AllowPricingReadActions", ["pricing:GetProducts"]),
        allow("AllowUnscopedInstanceProfileListAction", ["iam:ListInstanceProfiles"]),
        allow(
            "AllowInstanceProfileReadActions",
            ["iam:GetInstanceProfile"],
            ["arn:aws:iam::*:instance-profile/*"],
        ),
    )


def interruption_queue(queue_arn: object) -> Document:
    """Queue policy: only AWS's event services send, and nothing travels without TLS."""
    return document(
        {
            "Sid": "EC2InterruptionPolicy",
            "Effect": "Allow",
            "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
            "Action": "sqs:SendMessage",
            "Resource": queue_arn,
        },
        {
            "Sid": "DenyHTTP",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sqs:*",
            "Resource": queue_arn,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    )


def weights_reader(bucket: str, prefix: str, region: str, key_alias: str | None) -> Document:
    """Read one model's prefix of the weights bucket, and nothing else of it.

    The key is named by its alias (kms:ResourceAliases): its id is not known before it exists.
    """
    statements = [
        allow(
            "ListOwnPrefix",
            ["s3:ListBucket"],
            [bucket_arn(bucket)],
            {"StringLike": {"s3:prefix": [prefix, f"{prefix}*"]}},
        ),
        allow("ReadOwnPrefix", ["s3:GetObject"], [f"{bucket_arn(bucket)}/{prefix}*"]),
    ]
    if key_alias is not None:
        conditions = {
            "StringEquals": {"kms:ViaService": f"s3.{region}.amazonaws.com"},
            "ForAnyValue:StringEquals": {"kms:ResourceAliases": key_alias},
        }
        statements.append(
            allow("DecryptThroughS3", ["kms:Decrypt"], [f"arn:aws:kms:{region}:*:key/*"], conditions)
        )
    return document(*statements)


def bucket_arn(bucket: str) -> str:
    """ARN of a bucket; it holds neither region nor account."""
    return f"arn:aws:s3:::{bucket}"


def tls_only(bucket: str) -> Document:
    """Bucket policy: refuse every request without TLS."""
    return document(
        {
            "Sid": "DenyInsecureTransport",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [bucket_arn(bucket), f"{bucket_arn(bucket)}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )


def prometheus_reader(region: str) -> Document:
    """Query Amazon Managed Prometheus workspaces of the region."""
    return document(
        allow(
            "QueryMetrics",
            ["aps:QueryMetrics", "aps:GetLabels", "aps:GetSeries", "aps:GetMetricMetadata"],
            [f"arn:aws:aps:{region}:*:workspace/*"],
        )
    )
