"""Who may open a connection to a model's pods, and where these may go. The kubelet's probes always pass.

Policies add up in Kubernetes: a stack that needs another way (a tracing collector, a cache of its own) adds a
NetworkPolicy beside these and takes nothing away.
"""

from __future__ import annotations

from typing import Final

from specs import router
from specs.engine_args import PORT as ENGINE_PORT
from specs.labels import Part, selector
from specs.names import METRICS_NAMESPACE
from specs.network import subnets
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

Peer = dict[str, object]
ANY_NAMESPACE: Final[Peer] = {"namespaceSelector": {}}
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
CREDENTIALS: Final = "169.254.170.23/32"
"""The Pod Identity agent on the node, port 80 (EKS user guide, pod-id-considerations)."""
LINK_LOCAL: Final = "169.254.0.0/16"


def engine_policy(settings: Settings, model: Model) -> dict[str, object]:
    """Engines answer their own routers and Prometheus: they know no caller. They fetch weights and names, and
    reach nothing else of the cluster or the network."""
    routers: Peer = {"podSelector": {"matchLabels": selector(model, "router")}}
    heard = [_from([routers, _prometheus(settings)], ENGINE_PORT)]
    return _policy(model, "engine", heard, _engine_egress(settings))


def router_policy(settings: Settings, model: Model) -> dict[str, object]:
    """Routers answer the cluster and, with an Ingress, the balancer; their metrics only Prometheus.

    They may go anywhere: they watch the API server, whose address is not known before the cluster is.
    """
    callers = [ANY_NAMESPACE, *_balancer(settings, model)]
    heard = [_from(callers, router.PORT), _from([_prometheus(settings)], router.METRICS_PORT)]
    return _policy(model, "router", heard, None)


def image_policy(model: Model) -> dict[str, object] | None:
    """The idle container that keeps an image on a node neither listens nor speaks; None without spares."""
    return _policy(model, "image-puller", [], [], "image") if model.scaling.warm_spares else None


def _balancer(settings: Settings, model: Model) -> list[Peer]:
    """The subnets in which the balancer has its addresses; on an existing cluster they are not known."""
    if not model.ingress.enabled:
        return []
    if settings.cluster.mode != "eks":
        return [_block("0.0.0.0/0")]
    layout = subnets(settings.network.cidr, settings.zones)
    outside = model.ingress.scheme == "internet-facing"
    return [_block(entry.public if outside else entry.private) for entry in layout]


def _prometheus(settings: Settings) -> Peer:
    """Prometheus itself, by the label its operator gives it; any pod, where the program does not install it."""
    if not settings.platform.prometheus.install:
        return ANY_NAMESPACE
    return _pods(METRICS_NAMESPACE, {"app.kubernetes.io/name": "prometheus"})


def _engine_egress(settings: Settings) -> list[dict[str, object]] | None:
    """Names, credentials, and HTTPS to the world outside the VPC where the weights are there (S3 answers at
    public addresses, through the gateway endpoint). None, all ways open, on an existing cluster, whose
    resolver is not known."""
    if settings.cluster.mode != "eks":
        return None
    names = _pods("kube-system", {"k8s-app": "kube-dns"})
    found = [_rule("to", [names], [("UDP", 53), ("TCP", 53)])]
    if settings.weights.backend == "s3":
        found.append(_rule("to", [_block(CREDENTIALS)], [("TCP", 80)]))
    if settings.weights.backend in {"s3", "hub"}:
        world = _block("0.0.0.0/0", settings.network.cidr, LINK_LOCAL)
        found.append(_rule("to", [world], [("TCP", 443)]))
    return found


def _pods(namespace: str, labels: dict[str, str]) -> Peer:
    return {
        "namespaceSelector": {"matchLabels": {NAMESPACE_NAME: namespace}},
        "podSelector": {"matchLabels": labels},
    }


def _block(cidr: str, *without: str) -> Peer:
    return {"ipBlock": {"cidr": cidr, **({"except": list(without)} if without else {})}}


def _from(sources: list[Peer], port: int) -> dict[str, object]:
    return _rule("from", sources, [("TCP", port)])


def _rule(direction: str, peers: list[Peer], ports: list[tuple[str, int]]) -> dict[str, object]:
    return {direction: peers, "ports": [{"protocol": protocol, "port": port} for protocol, port in ports]}


def _policy(
    model: Model,
    part: Part,
    ingress: list[dict[str, object]],
    egress: list[dict[str, object]] | None,
    suffix: str = "",
) -> dict[str, object]:
    spec: dict[str, object] = {
        "podSelector": {"matchLabels": selector(model, part)},
        "policyTypes": ["Ingress"] if egress is None else ["Ingress", "Egress"],
        "ingress": ingress,
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(model, f"{model.name}-{suffix or part}", part),
        "spec": spec if egress is None else {**spec, "egress": egress},
    }
