"""GPU capacity: Karpenter with its queue and rights, the device plugin, and the pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from components.release import release
from specs import charts, events, iam, nodes
from specs.names import KARPENTER_NAMESPACE, KARPENTER_SERVICE_ACCOUNT, Names
from specs.network import tags
from specs.settings.stack import GpuPool, Settings


@dataclass(frozen=True, kw_only=True)
class GpuCapacityArgs:
    """`ready`: system nodes, add-ons, the nodes' access entry and the security group's discovery tag;
    `namespaces` by name, for the device plugin."""

    settings: Settings
    names: Names
    provider: k8s.Provider
    namespaces: Mapping[str, k8s.core.v1.Namespace]
    ready: Sequence[pulumi.Resource]


class GpuCapacity(pulumi.ComponentResource):
    """NodePools by name in `pools`.

    Destroy order: pools (Karpenter drains their nodes), node classes, Karpenter, its CRDs.
    """

    pools: dict[str, k8s.apiextensions.CustomResource]

    def __init__(self, name: str, args: GpuCapacityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:GpuCapacity", name, None, opts)
        self._args, self._tags = args, tags(args.names)
        self._own = pulumi.ResourceOptions(parent=self)
        ready = list(args.ready)
        if args.settings.cluster.mode == "eks":
            ready += self._interruptions() + self._rights(ready)
        if args.settings.platform.karpenter.install:
            ready.append(self._karpenter(ready))
        if charts.needs_gpu_plugin(args.settings):
            ready.append(self._plugin(args.ready))
        self.pools = {pool.name: self._pool(pool, ready) for pool in args.settings.gpu_pools}
        self.register_outputs({"pools": sorted(self.pools)})

    def _in_cluster(
        self, depends_on: Sequence[pulumi.Resource], timeouts: pulumi.CustomTimeouts | None = None
    ) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(
            parent=self,
            provider=self._args.provider,
            depends_on=list(depends_on),
            custom_timeouts=timeouts,
        )

    def _interruptions(self) -> list[pulumi.Resource]:
        names = self._args.names
        queue = aws.sqs.Queue(
            "interruption",
            name=names.queue,
            message_retention_seconds=events.RETENTION_SECONDS,
            sqs_managed_sse_enabled=True,
            tags=self._tags,
            opts=self._own,
        )
        policy = aws.sqs.QueuePolicy(
            "interruption",
            queue_url=queue.url,
            policy=pulumi.Output.json_dumps(iam.interruption_queue(queue.arn)),
            opts=self._own,
        )
        targets: list[pulumi.Resource] = []
        for event, pattern in events.INTERRUPTIONS.items():
            rule = aws.cloudwatch.EventRule(
                f"interruption-{event}",
                name=f"{names.cluster}-{event}",
                event_pattern=pulumi.Output.json_dumps(pattern),
                tags=self._tags,
                opts=self._own,
            )
            targets.append(
                aws.cloudwatch.EventTarget(
                    f"interruption-{event}", rule=rule.name, arn=queue.arn, target_id="queue", opts=self._own
                )
            )
        return [policy, *targets]

    def _rights(self, ready: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        names, region = self._args.names, self._args.settings.region
        role = aws.iam.Role(
            "karpenter",
            name=names.role("karpenter"),
            assume_role_policy=pulumi.Output.json_dumps(
                iam.pod_identity_trust(names, KARPENTER_NAMESPACE, KARPENTER_SERVICE_ACCOUNT)
            ),
            tags=self._tags,
            opts=self._own,
        )
        attached: list[pulumi.Resource] = []
        for purpose, document in iam.karpenter(names, region).items():
            policy = aws.iam.Policy(
                f"karpenter-{purpose}",
                name=names.role(f"karpenter-{purpose}"),
                policy=pulumi.Output.json_dumps(document),
                tags=self._tags,
                opts=self._own,
            )
            attached.append(
                aws.iam.RolePolicyAttachment(
                    f"karpenter-{purpose}", role=role.name, policy_arn=policy.arn, opts=self._own
                )
            )
        association = aws.eks.PodIdentityAssociation(
            "karpenter",
            cluster_name=names.cluster,
            namespace=KARPENTER_NAMESPACE,
            service_account=KARPENTER_SERVICE_ACCOUNT,
            role_arn=role.arn,
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(ready)),
        )
        return [*attached, association]

    def _karpenter(self, ready: Sequence[pulumi.Resource]) -> pulumi.Resource:
        settings = self._args.settings
        crds = release("karpenter-crd", charts.karpenter_crds(settings), self._in_cluster(self._args.ready))
        return release(
            "karpenter", charts.karpenter(settings, self._args.names), self._in_cluster([*ready, crds])
        )

    def _plugin(self, ready: Sequence[pulumi.Resource]) -> pulumi.Resource:
        spec = charts.gpu_plugin(self._args.settings)
        return release("gpu-plugin", spec, self._in_cluster([*ready, self._args.namespaces[spec.namespace]]))

    def _pool(self, pool: GpuPool, ready: Sequence[pulumi.Resource]) -> k8s.apiextensions.CustomResource:
        kwok = pool.node_class == "kwok"
        # Both go only when their last node has (NodeClaims block their owner, the class has a finalizer).
        leaving = pulumi.CustomTimeouts(delete=f"{nodes.removal_seconds(pool)}s")
        class_api, class_kind = nodes.KWOK_NODE_CLASS if kwok else nodes.EC2_NODE_CLASS
        class_body = nodes.kwok_node_class(pool) if kwok else nodes.node_class(self._args.names, pool)
        node_class = k8s.apiextensions.CustomResource(
            f"{pool.name}-node-class",
            api_version=class_api,
            kind=class_kind,
            metadata={"name": pool.name},
            spec=class_body["spec"],
            opts=self._in_cluster(ready, leaving),
        )
        api, kind = nodes.NODE_POOL
        body = nodes.node_pool(self._args.settings, pool)
        return k8s.apiextensions.CustomResource(
            f"{pool.name}-pool",
            api_version=api,
            kind=kind,
            metadata={"name": pool.name},
            spec=body["spec"],
            opts=self._in_cluster([*ready, node_class], leaving),
        )
