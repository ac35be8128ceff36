"""The EKS cluster with its system nodes and add-ons, or the existing cluster to use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s

from components.handles import NetworkHandle
from specs import control_plane, iam
from specs.labels import SYSTEM_LABEL
from specs.names import Names
from specs.network import CONTROL_PLANE_PORTS, tags
from specs.nodes import DISCOVERY
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """`network` is the cluster's own VPC; None uses an existing cluster and builds nothing of AWS."""

    settings: Settings
    names: Names
    network: NetworkHandle | None


class Cluster(pulumi.ComponentResource):
    """`provider` reaches the cluster, `namespaces` are its namespaces by name, `security_group_id` is shared by
    all its nodes (None when existing), `ready` is what a workload needs before it can run."""

    provider: k8s.Provider
    namespaces: dict[str, k8s.core.v1.Namespace]
    security_group_id: pulumi.Output[str] | None
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Cluster", name, None, opts)
        self._args, self._tags = args, tags(args.names)
        self._own = pulumi.ResourceOptions(parent=self)
        self.security_group_id, self.ready = None, []
        kubeconfig: pulumi.Input[str] | None = None
        if args.network is not None:
            cluster = self._control_plane(args.network)
            self.security_group_id = cluster.cluster_security_group_id
            self.ready = self._nodes(cluster, args.network)
            kubeconfig = cluster.kubeconfig_json
        self.provider = k8s.Provider(
            "cluster",
            kubeconfig=kubeconfig,
            context=args.settings.cluster.kube_context,
            # The identifier alone decides on replacement: a kubeconfig that changed or is not known yet
            # must not replace everything in the cluster (pulumi-kubernetes issue 4019).
            cluster_identifier=args.names.cluster,
            enable_server_side_apply=True,
            # A dashboard's text may change: nothing mounts these objects by name and hash.
            enable_config_map_mutable=True,
            opts=self._own,
        )
        self.namespaces = {
            namespace: k8s.core.v1.Namespace(
                namespace,
                metadata={"name": namespace, "labels": labels},
                opts=pulumi.ResourceOptions(parent=self, provider=self.provider, depends_on=list(self.ready)),
            )
            for namespace, labels in control_plane.namespaces(args.settings).items()
        }
        self.register_outputs({"name": args.names.cluster})

    def _control_plane(self, network: NetworkHandle) -> eks.Cluster:
        settings, names = self._args.settings, self._args.names
        pinned = control_plane.pinned_addons(settings)
        key = aws.kms.Key(
            "secrets",
            description=f"Kubernetes secrets of {names.cluster}",
            enable_key_rotation=True,
            tags=self._tags,
            opts=self._own,
        )
        logs = aws.cloudwatch.LogGroup(
            "control-plane",
            name=f"/aws/eks/{names.cluster}/cluster",  # EKS writes there; made first, it gets a retention
            retention_in_days=control_plane.LOG_RETENTION_DAYS,
            tags=self._tags,
            opts=self._own,
        )
        return eks.Cluster(
            "control-plane",
            name=names.cluster,
            version=settings.cluster.version,
            vpc_id=network.vpc_id,
            private_subnet_ids=list(network.private_subnet_ids),
            public_subnet_ids=list(network.public_subnet_ids),
            authentication_mode=eks.AuthenticationMode.API,
            endpoint_private_access=settings.cluster.endpoint.private,
            endpoint_public_access=settings.cluster.endpoint.public,
            public_access_cidrs=list(settings.cluster.endpoint.public_cidrs) or None,
            enabled_cluster_log_types=list(control_plane.LOG_TYPES),
            encryption_config_key_arn=key.arn,
            upgrade_policy={"support_type": "STANDARD"},
            deletion_protection=settings.cluster.deletion_protection,
            skip_default_node_group=True,
            # Every node then shares the one group EKS makes: no rule can be missing between two kinds of node.
            skip_default_security_groups=True,
            create_oidc_provider=False,
            bootstrap_self_managed_addons=False,
            vpc_cni_options={
                "addon_version": pinned["vpc-cni"],
                "enable_network_policy": True,
                "enable_prefix_delegation": True,
            },
            kube_proxy_addon_options={"version": pinned.get("kube-proxy")},
            coredns_addon_options={"enabled": False},  # an add-on of its own, after the nodes
            tags=self._tags,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[logs, *network.ready], transforms=[self._hpa_sync]
            ),
        )

    def _hpa_sync(self, args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        """pulumi-eks 4.4 has no argument for the controller manager's settings."""
        config = control_plane.hpa_sync(self._args.settings)
        if args.type_ != "aws:eks/cluster:Cluster" or config is None:
            return None
        return pulumi.ResourceTransformResult(
            {**args.props, "kubeControllerManagerConfig": config}, args.opts
        )

    def _role(self, name: str, role_name: str) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        role = aws.iam.Role(
            name,
            name=role_name,
            assume_role_policy=pulumi.Output.json_dumps(iam.service_trust("ec2")),
            tags=self._tags,
            opts=self._own,
        )
        attached: list[pulumi.Resource] = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy}", role=role.name, policy_arn=iam.managed(policy), opts=self._own
            )
            for policy in iam.NODE_POLICIES
        ]
        return role, attached

    def _nodes(self, cluster: eks.Cluster, network: NetworkHandle) -> list[pulumi.Resource]:
        """System nodes, then what needs them; also what Karpenter's nodes need to join."""
        settings, names = self._args.settings, self._args.names
        group = cluster.cluster_security_group_id
        discovery = aws.ec2.Tag(
            "node-group-discovery", resource_id=group, key=DISCOVERY, value=names.cluster, opts=self._own
        )
        doors = [
            aws.vpc.SecurityGroupIngressRule(
                f"control-plane-{port}",
                security_group_id=group,
                referenced_security_group_id=group,
                ip_protocol="tcp",
                from_port=port,
                to_port=port,
                description=purpose,
                opts=self._own,
            )
            for port, purpose in CONTROL_PLANE_PORTS.items()
        ]
        gpu_role, gpu_policies = self._role("gpu-node", names.node_role)
        entry = aws.eks.AccessEntry(
            "gpu-node",
            cluster_name=names.cluster,
            principal_arn=gpu_role.arn,
            type="EC2_LINUX",
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[cluster]),
        )
        agent = self._addon(control_plane.POD_IDENTITY_AGENT, [cluster])
        system_role, system_policies = self._role("system-node", names.role("system"))
        system = aws.eks.NodeGroup(
            "system",
            cluster_name=names.cluster,
            node_role_arn=system_role.arn,
            subnet_ids=list(network.private_subnet_ids),
            instance_types=list(settings.cluster.system_nodes.instance_types),
            ami_type=control_plane.system_ami_type(settings.cluster.system_nodes.instance_types),
            scaling_config={
                "min_size": settings.cluster.system_nodes.min,
                "desired_size": settings.cluster.system_nodes.min,
                "max_size": settings.cluster.system_nodes.max,
            },
            update_config={"max_unavailable": 1},
            node_repair_config={"enabled": True},
            labels=SYSTEM_LABEL,
            launch_template=self._launch_template(),
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[cluster, agent, *system_policies, *doors]),
        )
        addons = [self._addon(addon, [system]) for addon in control_plane.ADDONS_AFTER_NODES]
        return [system, *addons, self._disks(system, agent), entry, *gpu_policies, discovery]

    def _disks(self, system: pulumi.Resource, agent: pulumi.Resource) -> pulumi.Resource:
        """The EBS driver with its default gp3 class: Prometheus keeps the history that forecasts read."""
        role = aws.iam.Role(
            "disks",
            name=self._args.names.role("disks"),
            assume_role_policy=pulumi.Output.json_dumps(
                iam.pod_identity_trust(
                    self._args.names, control_plane.ADDON_NAMESPACE, control_plane.DISK_SERVICE_ACCOUNT
                )
            ),
            tags=self._tags,
            opts=self._own,
        )
        attached = aws.iam.RolePolicyAttachment(
            "disks", role=role.name, policy_arn=iam.managed(control_plane.DISK_POLICY), opts=self._own
        )
        return self._addon(
            control_plane.DISK_DRIVER,
            [system, agent, attached],
            {"service_account": control_plane.DISK_SERVICE_ACCOUNT, "role_arn": role.arn},
            control_plane.DISK_VALUES,
        )

    def _launch_template(self) -> aws.eks.NodeGroupLaunchTemplateArgsDict:
        template = aws.ec2.LaunchTemplate(
            "system",
            block_device_mappings=[
                {
                    "device_name": "/dev/xvda",
                    "ebs": {
                        "volume_size": control_plane.SYSTEM_DISK_GIB,
                        "volume_type": "gp3",
                        "encrypted": "true",
                        "delete_on_termination": "true",
                    },
                }
            ],
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": 1,
            },
            tag_specifications=[
                {"resource_type": kind, "tags": self._tags} for kind in ("instance", "volume")
            ],
            tags=self._tags,
            opts=self._own,
        )
        return {"id": template.id, "version": template.latest_version.apply(str)}

    def _addon(
        self,
        name: str,
        depends_on: Sequence[pulumi.Resource],
        identity: aws.eks.AddonPodIdentityAssociationArgsDict | None = None,
        values: Mapping[str, object] | None = None,
    ) -> pulumi.Resource:
        return aws.eks.Addon(
            name,
            cluster_name=self._args.names.cluster,
            addon_name=name,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            pod_identity_associations=[identity] if identity else None,
            configuration_values=json.dumps(values) if values else None,
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(depends_on)),
        )
