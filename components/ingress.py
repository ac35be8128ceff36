"""The AWS Load Balancer Controller and its rights; the models' Ingress objects depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from components.handles import NetworkHandle
from components.release import release
from specs import charts, iam
from specs.iam_load_balancer import load_balancer_controller
from specs.names import KARPENTER_NAMESPACE, LOAD_BALANCER_SERVICE_ACCOUNT, Names
from specs.network import tags
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class IngressArgs:
    """`ready`: system nodes, add-ons and network."""

    settings: Settings
    names: Names
    network: NetworkHandle
    provider: k8s.Provider
    ready: Sequence[pulumi.Resource]


class Ingress(pulumi.ComponentResource):
    """`ready`: what an Ingress needs before it exists, and outlives, so that its finalizer can run (LB5)."""

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: IngressArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Ingress", name, None, opts)
        own, stack_tags = pulumi.ResourceOptions(parent=self), tags(args.names)
        if not args.settings.platform.load_balancer_controller.install:
            self.ready = []
            self.register_outputs({})
            return
        role = aws.iam.Role(
            "load-balancer-controller",
            name=args.names.role("load-balancer"),
            assume_role_policy=pulumi.Output.json_dumps(
                iam.pod_identity_trust(args.names, KARPENTER_NAMESPACE, LOAD_BALANCER_SERVICE_ACCOUNT)
            ),
            tags=stack_tags,
            opts=own,
        )
        policy = aws.iam.Policy(
            "load-balancer-controller",
            name=args.names.role("load-balancer"),
            policy=pulumi.Output.json_dumps(load_balancer_controller(args.names, args.settings.region)),
            tags=stack_tags,
            opts=own,
        )
        attachment = aws.iam.RolePolicyAttachment(
            "load-balancer-controller", role=role.name, policy_arn=policy.arn, opts=own
        )
        association = aws.eks.PodIdentityAssociation(
            "load-balancer-controller",
            cluster_name=args.names.cluster,
            namespace=KARPENTER_NAMESPACE,
            service_account=LOAD_BALANCER_SERVICE_ACCOUNT,
            role_arn=role.arn,
            tags=stack_tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.ready)),
        )
        controller = release(
            "load-balancer-controller",
            charts.load_balancer_controller(args.settings, args.names, args.network.vpc_id),
            pulumi.ResourceOptions(
                parent=self, provider=args.provider, depends_on=[*args.ready, attachment, association]
            ),
        )
        self.ready = [controller]
        self.register_outputs({})
