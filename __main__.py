"""Headroom: LLM serving on EKS. Settings in, components across, outputs out."""

import pulumi

from components.autoscaler import Autoscaler, AutoscalerArgs
from components.cluster import Cluster, ClusterArgs
from components.configuration import stack_settings
from components.gpu_capacity import GpuCapacity, GpuCapacityArgs
from components.inference_service import InferenceService, InferenceServiceArgs
from components.ingress import Ingress, IngressArgs
from components.metrics import Metrics, MetricsArgs
from components.network import Network, NetworkArgs
from components.weights import Weights, WeightsArgs
from specs.names import Names

settings = stack_settings()
names = Names(pulumi.get_stack())

owned = settings.cluster.mode == "eks"  # an existing cluster brings its network and gets nothing of AWS
network = Network("network", NetworkArgs(settings=settings, names=names)) if owned else None
cluster = Cluster("cluster", ClusterArgs(settings=settings, names=names, network=network))
provider, namespaces, ready = cluster.provider, cluster.namespaces, cluster.ready
weights = ingress = None
if network is not None and cluster.security_group_id is not None:
    group = cluster.security_group_id
    weights = Weights(
        "weights",
        WeightsArgs(
            settings=settings,
            names=names,
            network=network,
            security_group_id=group,
            namespaces=namespaces,
            ready=ready,
        ),
    )
    ingress = Ingress(
        "ingress",
        IngressArgs(settings=settings, names=names, network=network, provider=provider, ready=ready),
    )

metrics = Metrics(
    "metrics", MetricsArgs(settings=settings, provider=provider, namespaces=namespaces, ready=ready)
)
autoscaler = Autoscaler(
    "autoscaler",
    AutoscalerArgs(settings=settings, names=names, provider=provider, namespaces=namespaces, ready=ready),
)
capacity = GpuCapacity(
    "gpu-capacity",
    GpuCapacityArgs(
        settings=settings, names=names, provider=provider, namespaces=namespaces, ready=metrics.ready
    ),
)

services = {
    model.name: InferenceService(
        model.name,
        InferenceServiceArgs(
            settings=settings,
            model=model,
            provider=provider,
            namespace=namespaces[model.namespace],
            bucket_name=names.bucket(settings.weights.bucket_name, settings.region),
            prometheus_address=metrics.prometheus_address,
            pool=capacity.pools[model.pool],
            metrics_ready=metrics.ready,
            autoscaler_ready=autoscaler.ready,
            ingress_ready=ingress.ready if ingress else [],
            weights_ready=weights.ready[model.name] if weights else [],
            weights_volume=weights.volume if weights else None,
        ),
    )
    for model in settings.active_models
}

if settings.deployments is not None:
    # Only a stack that uses Pulumi Cloud loads its SDK.
    from components.deployments import Deployments, DeploymentsArgs

    Deployments("deployments", DeploymentsArgs(deployments=settings.deployments))

pulumi.export("cluster", names.cluster)
pulumi.export("weightsBucket", weights.bucket_name if weights else None)
pulumi.export("endpoints", {name: service.url for name, service in services.items()})
pulumi.export("gpuBudget", settings.gpu_budget.max_gpus)
