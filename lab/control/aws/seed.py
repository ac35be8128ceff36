"""Fills the account with what Karpenter looks up by name or tag, before it starts: it reads some of it only once."""

import json
from ipaddress import ip_network
from typing import Any

import boto3
from botocore.config import Config

from lab.control.settings import AwsSettings, Subnet

SEEDING = "headroom-seed"
"""In the user agent of the seeding client: nobody else is let in before it is done, or ids would differ each time."""
# Any fixed number: moto draws ids from this generator, so a restarted account has the ids that nodes refer to.
RANDOM_SEED = 20261201


def seed(endpoint: str, account: AwsSettings) -> None:
    """One VPC with its subnets, the node security group, roles, the cluster and the queue."""

    # Its functions are overloaded by service in stubs that are not installed.
    session: Any = boto3.Session(region_name=account.region)
    config = Config(user_agent_extra=SEEDING)
    names = ("ec2", "iam", "eks", "sqs")
    ec2, iam, eks, sqs = (session.client(name, endpoint_url=endpoint, config=config) for name in names)
    vpc = ec2.create_vpc(CidrBlock=account.vpc_cidr)["Vpc"]["VpcId"]
    discovery = {"karpenter.sh/discovery": account.discovery_tag}
    cluster = {f"kubernetes.io/cluster/{account.cluster}": "owned"}
    subnets: list[str] = []
    for subnet in account.subnets or _private(account, discovery | cluster):
        made = ec2.create_subnet(
            VpcId=vpc,
            CidrBlock=subnet.cidr,
            AvailabilityZone=subnet.zone,
            TagSpecifications=_tags("subnet", subnet.tags),
        )
        subnets.append(made["Subnet"]["SubnetId"])
    group = ec2.create_security_group(
        GroupName=f"{account.cluster}-node",
        Description="Nodes",
        VpcId=vpc,
        TagSpecifications=_tags("security-group", discovery | cluster),
    )["GroupId"]
    _role(iam, account.node_role, "ec2.amazonaws.com")
    role = _role(iam, f"{account.cluster}-cluster", "eks.amazonaws.com")
    eks.create_cluster(
        name=account.cluster,
        version="1.35",
        roleArn=role,
        resourcesVpcConfig={"subnetIds": subnets, "securityGroupIds": [group]},
    )
    sqs.create_queue(QueueName=account.queue, Attributes={"MessageRetentionPeriod": "300"})


def _private(account: AwsSettings, tags: dict[str, str]) -> list[Subnet]:
    network = ip_network(account.vpc_cidr)
    blocks = network.subnets(new_prefix=min(network.prefixlen + 3, 28))
    return [
        Subnet(zone=zone, cidr=str(block), tags=tags | {"Name": f"private-{zone}"})
        for zone, block in zip(account.zones, blocks, strict=False)
    ]


def _role(iam: Any, name: str, service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    return iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]


def _tags(kind: str, tags: dict[str, str]) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]
