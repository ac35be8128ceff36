"""The autoscaler: KEDA, and its right to query a managed Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from components.release import release
from specs import authentication, charts, iam, versions
from specs.names import KEDA_NAMESPACE, KEDA_SERVICE_ACCOUNT, Names
from specs.network import tags
from specs.platform_values import keda_values
from specs.scaling import AUTHENTICATION
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class AutoscalerArgs:
    """`namespaces` by name; `ready`: system nodes, add-ons and the Pod Identity agent."""

    settings: Settings
    names: Names
    provider: k8s.Provider
    namespaces: Mapping[str, k8s.core.v1.Namespace]
    ready: Sequence[pulumi.Resource]


class Autoscaler(pulumi.ComponentResource):
    """`ready` is what a ScaledObject needs: the operator, its webhook and CRDs, the signing of queries; of these the
    last alone, which waits for the others.

    On destroy the ScaledObjects go first, since their finalizer needs the operator (keda issue 1470).
    """

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: AutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Autoscaler", name, None, opts)
        self._args = args
        self.ready = args.ready
        if authentication.signs(args.settings):
            # Credentials come into a pod when it starts.
            self.ready = self._may_query()
        if args.settings.platform.keda.install:
            self.ready = [self._keda()]
        if authentication.signs(args.settings):
            self.ready = [self._authentication()]
        self.register_outputs({})

    def _in_cluster(self, after: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, provider=self._args.provider, depends_on=list(after))

    def _keda(self) -> pulumi.Resource:
        settings = self._args.settings
        spec = charts.release(
            settings, versions.KEDA, settings.platform.keda, KEDA_NAMESPACE, keda_values(settings)
        )
        return release("keda", spec, self._in_cluster([*self.ready, self._args.namespaces[KEDA_NAMESPACE]]))

    def _may_query(self) -> list[pulumi.Resource]:
        names = self._args.names
        role = aws.iam.Role(
            "keda",
            name=names.role("keda"),
            assume_role_policy=pulumi.Output.json_dumps(
                iam.pod_identity_trust(names, KEDA_NAMESPACE, KEDA_SERVICE_ACCOUNT)
            ),
            tags=tags(names),
            opts=pulumi.ResourceOptions(parent=self),
        )
        policy = aws.iam.RolePolicy(
            "keda",
            role=role.name,
            policy=pulumi.Output.json_dumps(iam.prometheus_reader(self._args.settings.region)),
            opts=pulumi.ResourceOptions(parent=self),
        )
        association = aws.eks.PodIdentityAssociation(
            "keda",
            cluster_name=names.cluster,
            namespace=KEDA_NAMESPACE,
            service_account=KEDA_SERVICE_ACCOUNT,
            role_arn=role.arn,
            tags=tags(names),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy, *self._args.ready]),
        )
        return [policy, association]

    def _authentication(self) -> pulumi.Resource:
        body = authentication.cluster_trigger_authentication()
        return k8s.apiextensions.CustomResource(
            "prometheus-authentication",
            api_version="keda.sh/v1alpha1",
            kind="ClusterTriggerAuthentication",
            metadata={"name": AUTHENTICATION},
            spec=body["spec"],
            opts=self._in_cluster(self.ready),
        )
