"""KEDA: the operator, and the adapter that serves external metrics to the HPA."""

from lab.control import kubernetes
from lab.control.component import Component, Health
from lab.control.parts.context import Context

EXTERNAL_METRICS = "external.metrics.k8s.io/v1beta1"


def operator(lab: Context) -> Component:
    """Watches all namespaces; its certificates are the lab's, so rotation and patching are off."""
    argv = [
        lab.tool("keda-operator"),
        f"--metrics-bind-address={lab.address('keda-metrics')}",
        f"--health-probe-bind-address={lab.address('keda-operator')}",
        f"--metrics-service-bind-address={lab.address('keda-grpc')}",
        f"--cert-dir={lab.certificates.path('keda')}",
        "--enable-cert-rotation=false",
        "--enable-webhook-patching=false",
        "--enable-apiservice-patching=false",
        "--kube-api-qps=50",
        "--kube-api-burst=100",
    ]
    health = Health(url=f"{lab.url('keda-operator')}/readyz")
    return Component(
        name="keda-operator", argv=tuple(argv), environment=_environment(lab, "keda-operator"), health=health
    )


def adapter(lab: Context) -> Component:
    """Serves external.metrics.k8s.io behind the API server's aggregation layer."""
    kubeconfig, keda = lab.layout.kubeconfig, lab.certificates.path("keda")
    argv = [
        lab.tool("keda-adapter"),
        "--bind-address=127.0.0.1",
        f"--secure-port={lab.ports['keda-adapter']}",
        f"--port={lab.ports['keda-adapter-metrics']}",
        f"--lister-kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--cert-dir={keda}",
        f"--tls-cert-file={keda / 'tls.crt'}",
        f"--tls-private-key-file={keda / 'tls.key'}",
        f"--metrics-service-address=localhost:{lab.ports['keda-grpc']}",
    ]
    # Asked through the API server: well means that the aggregation layer serves it to the HPA.
    health = Health(
        url=f"{lab.url('apiserver', 'https')}/apis/{EXTERNAL_METRICS}",
        ca=lab.certificates.path("ca.crt"),
        token=lab.certificates.path("token"),
    )
    return Component(
        name="keda-adapter", argv=tuple(argv), environment=_environment(lab, "keda-adapter"), health=health
    )


def _environment(lab: Context, pod: str) -> dict[str, str]:
    return {
        "KUBECONFIG": str(lab.layout.kubeconfig),
        "KEDA_CLUSTER_OBJECT_NAMESPACE": kubernetes.NAMESPACE,
        "POD_NAMESPACE": kubernetes.NAMESPACE,
        "POD_NAME": pod,
        # Empty means all namespaces; unset is an error for the adapter.
        "WATCH_NAMESPACE": "",
    }
