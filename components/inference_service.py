"""One served model: engines, router, autoscaler, budgets, monitors, and the balancer in front."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pulumi
import pulumi_kubernetes as k8s

from specs import ingress_rules, monitors, network_policy, router, router_access, serving, warm
from specs.demand import prometheus_rule
from specs.patience import delete_seconds, rollout_seconds
from specs.scaling import scaled_object
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.weights_volume import mounted, persistent_volume, persistent_volume_claim

Kind = TypeVar("Kind", bound=pulumi.Resource)
Body = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class InferenceServiceArgs:
    """What a model's objects stand on.

    `pool` is the model's NodePool; `bucket_name` the weights bucket of backend s3; `weights_volume` the handles
    of a mounted file system (`specs.weights_volume.persistent_volume` names them): None mounts the claim
    `<model>-weights` that the namespace has already. The `..._ready` lists are what must exist before objects
    of that kind: CRDs and their controllers, the right to read the weights.
    """

    settings: Settings
    model: Model
    provider: k8s.Provider
    namespace: k8s.core.v1.Namespace
    bucket_name: pulumi.Input[str] | None
    prometheus_address: str
    pool: pulumi.Resource
    metrics_ready: Sequence[pulumi.Resource]
    autoscaler_ready: Sequence[pulumi.Resource]
    ingress_ready: Sequence[pulumi.Resource]
    weights_ready: Sequence[pulumi.Resource]
    weights_volume: Mapping[str, pulumi.Input[str]] | None = None


class InferenceService(pulumi.ComponentResource):
    """`url` is where callers inside the cluster find the model, `deployment_name` its engines' Deployment."""

    url: str
    deployment_name: str

    def __init__(
        self, name: str, args: InferenceServiceArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("headroom:index:InferenceService", name, None, opts)
        self._args, self._settings, self._model = args, args.settings, args.model
        engines = self._engines(self._account_and_weights())
        service = self._router()
        self._scaling(engines)
        self._spares(engines)
        self._monitoring()
        if self._model.ingress.enabled:
            # Deleted before the controller, whose finalizer removes the balancer.
            body = ingress_rules.ingress(self._settings, self._model)
            self._declare(k8s.networking.v1.Ingress, "router", body, [service, *args.ingress_ready])
        self.url, self.deployment_name = router.url(self._model), self._model.name
        self.register_outputs({"url": self.url, "prometheusAddress": args.prometheus_address})

    def _declare(
        self,
        kind: Callable[..., Kind],
        suffix: str,
        body: Body,
        after: Sequence[pulumi.Resource] = (),
        **options: object,
    ) -> Kind:
        """One object from its body; its logical name is `<model>-<suffix>`."""
        opts = pulumi.ResourceOptions(
            parent=self, provider=self._args.provider, depends_on=[self._args.namespace, *after]
        )
        for option, value in options.items():
            setattr(opts, option, value)
        fields = {re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower(): value for key, value in body.items()}
        return kind(f"{self._model.name}-{suffix}", opts=opts, **fields)

    def _account_and_weights(self) -> list[pulumi.Resource]:
        account = self._declare(k8s.core.v1.ServiceAccount, "engine", serving.engine_account(self._model))
        if not mounted(self._settings) or self._args.weights_volume is None:
            return [account]
        volume = self._declare(
            k8s.core.v1.PersistentVolume,
            "weights",
            persistent_volume(self._settings, self._model, self._args.weights_volume),
            self._args.weights_ready,
        )
        claim = self._declare(
            k8s.core.v1.PersistentVolumeClaim, "weights", persistent_volume_claim(self._model), [volume]
        )
        return [account, claim]

    def _engines(self, needed: Sequence[pulumi.Resource]) -> k8s.apps.v1.Deployment:
        settings, model = self._settings, self._model
        patience = f"{rollout_seconds(settings, model)}s"
        deployment = self._declare(
            k8s.apps.v1.Deployment,
            "engine",
            serving.deployment(settings, model, self._args.bucket_name),
            [self._args.pool, *self._args.weights_ready, *needed],
            ignore_changes=["spec.replicas"],
            custom_timeouts=pulumi.CustomTimeouts(
                create=patience, update=patience, delete=f"{delete_seconds(settings, model)}s"
            ),
        )
        # After the engines: Pulumi waits for a Service's endpoints only as long as a warm start takes.
        self._declare(k8s.core.v1.Service, "engines", serving.engines_service(model), [deployment])
        budget = serving.disruption_budget(model, "engine")
        self._declare(k8s.policy.v1.PodDisruptionBudget, "engine", budget)
        policy = network_policy.engine_policy(settings, model)
        self._declare(k8s.networking.v1.NetworkPolicy, "engine", policy)
        return deployment

    def _router(self) -> k8s.core.v1.Service:
        settings, model = self._settings, self._model
        account = self._declare(k8s.core.v1.ServiceAccount, "router", router_access.account(model))
        role = self._declare(k8s.rbac.v1.Role, "router", router_access.role(model))
        binding = self._declare(
            k8s.rbac.v1.RoleBinding, "router", router_access.role_binding(model), [account, role]
        )
        timeouts = pulumi.CustomTimeouts(delete=f"{router.grace_seconds(settings, model) + 300}s")
        deployment = self._declare(
            k8s.apps.v1.Deployment,
            "router",
            router.deployment(settings, model),
            [binding],
            custom_timeouts=timeouts,
        )
        if settings.platform.router.replicas > 1:
            budget = serving.disruption_budget(model, "router")
            self._declare(k8s.policy.v1.PodDisruptionBudget, "router", budget)
        policy = network_policy.router_policy(settings, model)
        self._declare(k8s.networking.v1.NetworkPolicy, "router", policy)
        return self._declare(k8s.core.v1.Service, "router", router.service(model), [deployment])

    def _custom(self, suffix: str, body: Body | None, after: Sequence[pulumi.Resource]) -> None:
        if body is not None:
            self._declare(k8s.apiextensions.CustomResource, suffix, body, after)

    def _scaling(self, engines: pulumi.Resource) -> None:
        """After its target and the ready operator (keda issue 5973), before both on destroy."""
        ready = [engines, *self._args.autoscaler_ready, *self._args.metrics_ready]
        self._custom("engine", scaled_object(self._settings, self._model), ready)
        self._custom("engine", prometheus_rule(self._settings, self._model), self._args.metrics_ready)

    def _spares(self, engines: pulumi.Resource) -> None:
        self._custom("engine", warm.capacity_buffer(self._model), [engines, self._args.pool])
        puller = warm.image_puller(self._settings, self._model)
        if puller is not None:
            self._declare(k8s.apps.v1.DaemonSet, "image", puller, [self._args.pool])
        policy = network_policy.image_policy(self._model)
        if policy is not None:
            self._declare(k8s.networking.v1.NetworkPolicy, "image", policy)

    def _monitoring(self) -> None:
        for part in ("engine", "router"):
            body = monitors.pod_monitor(self._settings, self._model, part)
            self._custom(part, body, self._args.metrics_ready)
