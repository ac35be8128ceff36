"""A small serving stack: network, cluster with a transformed child, bucket, role, Helm releases and
objects."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s

config = pulumi.Config("headroom")
cidr = config.get("cidr") or "10.0.0.0/16"
sync_seconds = config.get_int("syncSeconds") or 15
models: list[str] = config.get_object("models") or ["llama3-8b"]

vpc = aws.ec2.Vpc("network", cidr_block=cidr, enable_dns_hostnames=True, tags={"Name": "headroom"})
subnets = [
    aws.ec2.Subnet(
        f"private-{letter}",
        vpc_id=vpc.id,
        cidr_block=f"10.0.{index}.0/24",
        availability_zone=f"us-east-1{letter}",
        tags={"kubernetes.io/role/internal-elb": "1"},
    )
    for index, letter in enumerate("abc")
]


def sync_period(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    if args.type_ != "aws:eks/cluster:Cluster":
        return None
    props = dict(args.props)
    props["kubeControllerManagerConfig"] = {
        "horizontalPodAutoscalerControllerConfig": {"horizontalPodAutoscalerSyncPeriod": f"{sync_seconds}s"}
    }
    return pulumi.ResourceTransformResult(props=props, opts=args.opts)


key = aws.kms.Key("secrets", enable_key_rotation=True)
cluster = eks.Cluster(
    "cluster",
    name="headroom-dev",
    version="1.35",
    vpc_id=vpc.id,
    private_subnet_ids=[subnet.id for subnet in subnets],
    authentication_mode=eks.AuthenticationMode.API,
    skip_default_node_group=True,
    skip_default_security_groups=True,
    endpoint_private_access=True,
    endpoint_public_access=False,
    encryption_config_key_arn=key.arn,
    coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=True),
    vpc_cni_options=eks.VpcCniOptionsArgs(enable_prefix_delegation=True),
    tags={"project": "headroom"},
    opts=pulumi.ResourceOptions(transforms=[sync_period]),
)
node_role = aws.iam.Role(
    "nodes",
    assume_role_policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ],
        }
    ),
)
group = aws.eks.NodeGroup(
    "system",
    cluster_name=cluster.eks_cluster.name,
    node_role_arn=node_role.arn,
    subnet_ids=[subnet.id for subnet in subnets],
    scaling_config={"min_size": 2, "max_size": 4, "desired_size": 2},
)
bucket = aws.s3.Bucket("weights")
aws.s3.BucketPublicAccessBlock(
    "weights", bucket=bucket.bucket, block_public_acls=True, block_public_policy=True
)
queue = aws.sqs.Queue("interruption", message_retention_seconds=300)

provider = k8s.Provider(
    "cluster",
    kubeconfig=cluster.kubeconfig_json,
    cluster_identifier=cluster.eks_cluster.name,
    opts=pulumi.ResourceOptions(depends_on=[group]),
)
inside = pulumi.ResourceOptions(provider=provider)
namespace = k8s.core.v1.Namespace("serving", metadata={"name": "llm-serving"}, opts=inside)
karpenter = k8s.helm.v3.Release(
    "karpenter",
    chart="oci://public.ecr.aws/karpenter/karpenter",
    version="1.15.2",
    name="karpenter",
    namespace="kube-system",
    values={"settings": {"interruptionQueue": queue.name, "clusterName": cluster.eks_cluster.name}},
    opts=inside,
)
pool = k8s.apiextensions.CustomResource(
    "inference",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "inference"},
    spec={"limits": {"nvidia.com/gpu": "16"}},
    opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=[karpenter])),
)
for model in models:
    labels = {"app": model}
    k8s.apps.v1.Deployment(
        model,
        metadata={"name": model, "namespace": namespace.metadata["name"]},
        spec={
            "selector": {"match_labels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [
                        {"name": "vllm", "image": config.get("image") or "vllm/vllm-openai:v0.33.0"}
                    ]
                },
            },
        },
        opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=[pool])),
    )

pulumi.export("vpcId", vpc.id)
pulumi.export("clusterName", cluster.eks_cluster.name)
pulumi.export("clusterArn", cluster.eks_cluster.arn)
pulumi.export("oidcIssuer", cluster.oidc_issuer)
pulumi.export("clusterSecurityGroupId", cluster.cluster_security_group_id)
pulumi.export("bucketArn", bucket.arn)
pulumi.export("queueUrl", queue.url)
pulumi.export("release", karpenter.status["status"])
pulumi.export("uid", namespace.metadata["uid"])
