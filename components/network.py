"""The VPC: private subnets for nodes and pods, public ones for load balancers, NAT and endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from specs import network as spec
from specs.names import Names
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """Settings and names of the stack."""

    settings: Settings
    names: Names


class Network(pulumi.ComponentResource):
    """One VPC over the configured zones.

    `vpc_id`, `private_subnet_ids` and `public_subnet_ids` (in zone order); `ready` is what a node needs
    before it can pull an image.
    """

    vpc_id: pulumi.Output[str]
    private_subnet_ids: list[pulumi.Output[str]]
    public_subnet_ids: list[pulumi.Output[str]]
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Network", name, None, opts)
        self._settings, self._names = args.settings, args.names
        self._own = pulumi.ResourceOptions(parent=self)
        tags = spec.tags(args.names)
        vpc = aws.ec2.Vpc(
            "vpc",
            cidr_block=args.settings.network.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=tags | {"Name": args.names.cluster},
            opts=self._own,
        )
        # Nothing may use the default group: it allows all traffic among its members (CIS AWS 5.4).
        aws.ec2.DefaultSecurityGroup(
            "default", vpc_id=vpc.id, ingress=[], egress=[], tags=tags, opts=self._own
        )
        gateway = aws.ec2.InternetGateway("internet", vpc_id=vpc.id, tags=tags, opts=self._own)
        layout = spec.subnets(args.settings.network.cidr, args.settings.zones)
        public = {entry.zone: self._public(vpc, entry) for entry in layout}
        private = {entry.zone: self._private(vpc, entry) for entry in layout}
        outward = self._public_routes(vpc, gateway, public)
        nats = self._nats(public, outward)
        routes, tables = self._private_routes(vpc, private, nats)
        endpoints = self._endpoints(vpc, private, tables)
        self.vpc_id = vpc.id
        self.private_subnet_ids = [subnet.id for subnet in private.values()]
        self.public_subnet_ids = [subnet.id for subnet in public.values()]
        self.ready = [*routes, *endpoints]
        self.register_outputs({"vpcId": vpc.id})

    def _public(self, vpc: aws.ec2.Vpc, entry: spec.ZoneSubnets) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"public-{entry.zone}",
            vpc_id=vpc.id,
            availability_zone=entry.zone,
            cidr_block=entry.public,
            map_public_ip_on_launch=False,
            tags=spec.public_subnet_tags(self._names, entry.zone),
            opts=self._own,
        )

    def _private(self, vpc: aws.ec2.Vpc, entry: spec.ZoneSubnets) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"private-{entry.zone}",
            vpc_id=vpc.id,
            availability_zone=entry.zone,
            cidr_block=entry.private,
            tags=spec.private_subnet_tags(self._names, entry.zone),
            opts=self._own,
        )

    def _public_routes(
        self, vpc: aws.ec2.Vpc, gateway: aws.ec2.InternetGateway, public: dict[str, aws.ec2.Subnet]
    ) -> aws.ec2.Route:
        table = aws.ec2.RouteTable("public", vpc_id=vpc.id, tags=spec.tags(self._names), opts=self._own)
        for zone, subnet in public.items():
            aws.ec2.RouteTableAssociation(
                f"public-{zone}", subnet_id=subnet.id, route_table_id=table.id, opts=self._own
            )
        return aws.ec2.Route(
            "public",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=gateway.id,
            opts=self._own,
        )

    def _nats(
        self, public: dict[str, aws.ec2.Subnet], outward: aws.ec2.Route
    ) -> dict[str, aws.ec2.NatGateway]:
        nats: dict[str, aws.ec2.NatGateway] = {}
        for zone in spec.zones_with_nat(self._settings):
            tags = spec.tags(self._names) | {"Name": f"{self._names.cluster}-nat-{zone}"}
            address = aws.ec2.Eip(f"nat-{zone}", domain="vpc", tags=tags, opts=self._own)
            nats[zone] = aws.ec2.NatGateway(
                f"nat-{zone}",
                subnet_id=public[zone].id,
                allocation_id=address.id,
                tags=tags,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[outward]),
            )
        return nats

    def _private_routes(
        self, vpc: aws.ec2.Vpc, private: dict[str, aws.ec2.Subnet], nats: dict[str, aws.ec2.NatGateway]
    ) -> tuple[list[pulumi.Resource], list[aws.ec2.RouteTable]]:
        routes: list[pulumi.Resource] = []
        tables: list[aws.ec2.RouteTable] = []
        for zone, subnet in private.items():
            tags = spec.tags(self._names) | {"Name": f"{self._names.cluster}-private-{zone}"}
            table = aws.ec2.RouteTable(f"private-{zone}", vpc_id=vpc.id, tags=tags, opts=self._own)
            tables.append(table)
            routes.append(
                aws.ec2.RouteTableAssociation(
                    f"private-{zone}", subnet_id=subnet.id, route_table_id=table.id, opts=self._own
                )
            )
            routes.append(
                aws.ec2.Route(
                    f"private-{zone}",
                    route_table_id=table.id,
                    destination_cidr_block="0.0.0.0/0",
                    nat_gateway_id=nats[spec.nat_zone(self._settings, zone)].id,
                    opts=self._own,
                )
            )
        return routes, tables

    def _endpoints(
        self, vpc: aws.ec2.Vpc, private: dict[str, aws.ec2.Subnet], tables: list[aws.ec2.RouteTable]
    ) -> list[pulumi.Resource]:
        tags = spec.tags(self._names)
        made: list[pulumi.Resource] = [
            aws.ec2.VpcEndpoint(
                "s3",  # always: weights would otherwise pay for and crowd the NAT gateway
                vpc_id=vpc.id,
                service_name=spec.endpoint_service(self._settings, "s3"),
                vpc_endpoint_type="Gateway",
                route_table_ids=[table.id for table in tables],
                tags=tags,
                opts=self._own,
            )
        ]
        if not self._settings.network.endpoints:
            return made
        group = aws.ec2.SecurityGroup(
            "endpoints",
            vpc_id=vpc.id,
            description="HTTPS from the VPC to AWS endpoints",
            tags=tags,
            opts=self._own,
        )
        aws.vpc.SecurityGroupIngressRule(
            "endpoints",
            security_group_id=group.id,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=self._settings.network.cidr,
            opts=self._own,
        )
        for service in spec.INTERFACE_ENDPOINTS:
            made.append(
                aws.ec2.VpcEndpoint(
                    service,
                    vpc_id=vpc.id,
                    service_name=spec.endpoint_service(self._settings, service),
                    vpc_endpoint_type="Interface",
                    private_dns_enabled=True,
                    subnet_ids=[subnet.id for subnet in private.values()],
                    security_group_ids=[group.id],
                    tags=tags,
                    opts=self._own,
                )
            )
        return made
