"""VPCs and what is in them."""

from lab.cloud.asked import ACCOUNT, Asked
from lab.cloud.aws.kind import Adds, Kind, Naming, address, prefixed
from lab.cloud.wire import Properties


def _vpc(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("ec2", f"vpc/{identity}"),
        "defaultNetworkAclId": f"acl-0{asked.hex(16, 'acl')}",
        "defaultRouteTableId": f"rtb-0{asked.hex(16, 'rtb')}",
        "defaultSecurityGroupId": f"sg-0{asked.hex(16, 'sg')}",
        "dhcpOptionsId": f"dopt-0{asked.hex(16, 'dopt')}",
        "mainRouteTableId": f"rtb-0{asked.hex(16, 'rtb')}",
        "ownerId": ACCOUNT,
        "enableDnsSupport": True,
        "instanceTenancy": "default",
    }


def _owned(resource: str) -> Adds:
    return lambda asked, identity: {"arn": asked.arn("ec2", f"{resource}/{identity}"), "ownerId": ACCOUNT}


def _subnet(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("ec2", f"subnet/{identity}"),
        "ownerId": ACCOUNT,
        "availabilityZone": f"{asked.region}a",
        "availabilityZoneId": "use1-az1",
        "mapPublicIpOnLaunch": False,
    }


def _eip(asked: Asked, identity: str) -> Properties:
    public = address(asked, 203, 0, 113)
    return {
        "allocationId": identity,
        "arn": asked.arn("ec2", f"elastic-ip/{identity}"),
        "publicIp": public,
        "publicDns": f"ec2-{public.replace('.', '-')}.compute-1.amazonaws.com",
        "networkBorderGroup": asked.region,
        "publicIpv4Pool": "amazon",
    }


def _nat(asked: Asked, identity: str) -> Properties:
    del identity
    return {
        "associationId": f"eipassoc-0{asked.hex(16, 'assoc')}",
        "networkInterfaceId": f"eni-0{asked.hex(16, 'eni')}",
        "privateIp": address(asked, 10, 0),
        "publicIp": address(asked, 203, 0, 113),
        "connectivityType": "public",
    }


def _endpoint(asked: Asked, identity: str) -> Properties:
    answer: Properties = {
        "arn": asked.arn("ec2", f"vpc-endpoint/{identity}"),
        "ownerId": ACCOUNT,
        "state": "available",
        "requesterManaged": False,
        "ipAddressType": "ipv4",
    }
    if asked.inputs.get("vpcEndpointType", "Gateway") == "Gateway":
        return answer | {"prefixListId": f"pl-{asked.hex(8, 'pl')}", "cidrBlocks": ["52.216.0.0/15"]}
    service = asked.text("serviceName").rpartition(".")[2]
    host = f"{identity}-{asked.hex(8, 'dns')}.{service}.{asked.region}.vpce.amazonaws.com"
    return answer | {
        "dnsEntries": [{"dnsName": host, "hostedZoneId": "Z7HUB22UULQXV"}],
        "networkInterfaceIds": [f"eni-0{asked.hex(16, 'eni')}"],
    }


def _rule(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("ec2", f"security-group-rule/{identity}"),
        "securityGroupRuleId": identity,
    }


KINDS: dict[str, Kind] = {
    "aws:ec2/vpc:Vpc": Kind(
        identity=prefixed("vpc"), adds=_vpc, forced="cidrBlock ipv4IpamPoolId ipv4NetmaskLength"
    ),
    "aws:ec2/subnet:Subnet": Kind(
        identity=prefixed("subnet"),
        adds=_subnet,
        forced="vpcId cidrBlock availabilityZone availabilityZoneId ipv6Native outpostArn",
    ),
    "aws:ec2/internetGateway:InternetGateway": Kind(
        identity=prefixed("igw"), adds=_owned("internet-gateway")
    ),
    "aws:ec2/eip:Eip": Kind(
        identity=prefixed("eipalloc"), adds=_eip, forced="domain networkBorderGroup publicIpv4Pool address"
    ),
    "aws:ec2/natGateway:NatGateway": Kind(
        identity=prefixed("nat"),
        adds=_nat,
        forced="allocationId subnetId connectivityType privateIp vpcId availabilityMode"
        " secondaryPrivateIpAddressCount",
    ),
    "aws:ec2/routeTable:RouteTable": Kind(
        identity=prefixed("rtb"), adds=_owned("route-table"), forced="vpcId"
    ),
    "aws:ec2/route:Route": Kind(
        identity=lambda asked: f"r-{asked.text('routeTableId')}{asked.number(4294967295)}",
        adds=lambda asked, identity: {"origin": "CreateRoute", "state": "active"},  # noqa: ARG005
        forced="routeTableId destinationCidrBlock destinationIpv6CidrBlock destinationPrefixListId",
        tagged=False,
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Kind(
        identity=prefixed("rtbassoc"), forced="subnetId gatewayId", tagged=False
    ),
    "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation": Kind(
        identity=prefixed("rtbassoc"), forced="vpcId", tagged=False
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Kind(
        identity=prefixed("vpce"), adds=_endpoint, forced="vpcId serviceName vpcEndpointType serviceRegion"
    ),
    "aws:ec2/securityGroup:SecurityGroup": Kind(
        identity=prefixed("sg"),
        adds=lambda asked, identity: {
            "arn": asked.arn("ec2", f"security-group/{identity}"),
            "ownerId": ACCOUNT,
            "description": "Managed by Pulumi",
        },
        forced="name namePrefix description vpcId",
        naming=Naming(key="name", limit=255),
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": Kind(
        identity=prefixed("sg"),
        adds=lambda asked, identity: {
            "arn": asked.arn("ec2", f"security-group/{identity}"),
            "ownerId": ACCOUNT,
            "name": "default",
            "description": "default VPC security group",
        },
        forced="vpcId",
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Kind(
        identity=lambda asked: f"sgrule-{asked.number(4294967295)}",
        adds=lambda asked, identity: {"securityGroupRuleId": f"sgr-0{asked.hex(16, 'rule')}"},  # noqa: ARG005
        forced="type fromPort toPort protocol cidrBlocks ipv6CidrBlocks prefixListIds securityGroupId"
        " sourceSecurityGroupId self",
        tagged=False,
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Kind(
        identity=prefixed("sgr"), adds=_rule, forced="securityGroupId"
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Kind(
        identity=prefixed("sgr"), adds=_rule, forced="securityGroupId"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Kind(
        identity=prefixed("lt"),
        adds=lambda asked, identity: {
            "arn": asked.arn("ec2", f"launch-template/{identity}"),
            "latestVersion": 1,
            "defaultVersion": 1,
        },
        forced="name namePrefix",
        naming=Naming(key="name", limit=125),
    ),
    "aws:ec2/flowLog:FlowLog": Kind(
        identity=prefixed("fl"),
        adds=lambda asked, identity: {"arn": asked.arn("ec2", f"vpc-flow-log/{identity}")},
        forced="vpcId subnetId eniId logDestination logDestinationType logFormat iamRoleArn trafficType"
        " maxAggregationInterval destinationOptions",
    ),
    "aws:ec2/tag:Tag": Kind(
        identity=lambda asked: f"{asked.text('resourceId')},{asked.text('key')}",
        forced="resourceId key",
        tagged=False,
    ),
}
