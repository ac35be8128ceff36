"""Who may open a connection to a model's pods. The kubelet's probes are always let through."""

from __future__ import annotations

from specs import router
from specs.engine_args import PORT as ENGINE_PORT
from specs.labels import Part, selector
from specs.names import METRICS_NAMESPACE
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

ANY_NAMESPACE: dict[str, object] = {"namespaceSelector": {}}


def engine_policy(settings: Settings, model: Model) -> dict[str, object]:
    """Engines answer their own routers and Prometheus: they know no caller and check no key."""
    routers: dict[str, object] = {"podSelector": {"matchLabels": selector(model, "router")}}
    return _policy(model, "engine", [_rule([routers, _prometheus(settings)], ENGINE_PORT)])


def router_policy(settings: Settings, model: Model) -> dict[str, object]:
    """Routers answer the cluster and, with an Ingress, the balancer; their metrics only Prometheus."""
    callers = [ANY_NAMESPACE]
    if model.ingress.enabled:
        # A balancer's addresses are the network's; on an existing cluster the network is not known.
        network = settings.network.cidr if settings.cluster.mode == "eks" else "0.0.0.0/0"
        callers.append({"ipBlock": {"cidr": network}})
    rules = [_rule(callers, router.PORT), _rule([_prometheus(settings)], router.METRICS_PORT)]
    return _policy(model, "router", rules)


def _prometheus(settings: Settings) -> dict[str, object]:
    """The namespace Prometheus runs in; any, where the program does not install it."""
    if not settings.platform.prometheus.install:
        return ANY_NAMESPACE
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": METRICS_NAMESPACE}}}


def _rule(sources: list[dict[str, object]], port: int) -> dict[str, object]:
    return {"from": sources, "ports": [{"protocol": "TCP", "port": port}]}


def _policy(model: Model, part: Part, rules: list[dict[str, object]]) -> dict[str, object]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(model, f"{model.name}-{part}", part),
        "spec": {
            "podSelector": {"matchLabels": selector(model, part)},
            "policyTypes": ["Ingress"],
            "ingress": rules,
        },
    }
