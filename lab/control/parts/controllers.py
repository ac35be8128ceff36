"""kube-controller-manager (the HPA among its controllers) and kube-scheduler."""

from collections.abc import Mapping

from lab.control.component import Component, Health
from lab.control.parts.context import Context


def controller_manager(lab: Context) -> Component:
    """All controllers but those of a cloud. ``hpa_sync_seconds`` is what EKS calls horizontalPodAutoscalerSyncPeriod."""
    flags = {
        "controllers": "*,-nodeipam,-route,-cloud-node-lifecycle",
        "service-account-private-key-file": lab.certificates.path("service-account.key"),
        "root-ca-file": lab.certificates.path("ca.crt"),
        "horizontal-pod-autoscaler-sync-period": f"{lab.settings.hpa_sync_seconds}s",
        "kube-api-qps": 100,
        "kube-api-burst": 200,
    }
    return _component(lab, "controller-manager", flags)


def scheduler(lab: Context) -> Component:
    """The default profile."""
    return _component(lab, "scheduler", {"kube-api-qps": 100, "kube-api-burst": 200})


def _component(lab: Context, name: str, flags: Mapping[str, object]) -> Component:
    kubeconfig = lab.layout.kubeconfig
    both: dict[str, object] = {
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "bind-address": "127.0.0.1",
        "secure-port": lab.ports[name],
        "cert-dir": lab.certificates.path(name),
        "leader-elect": "false",
        "profiling": "false",
    }
    argv = [lab.tool(f"kube-{name}"), *(f"--{flag}={value}" for flag, value in (both | dict(flags)).items())]
    return Component(name=name, argv=tuple(argv), health=Health(url=f"{lab.url(name, 'https')}/healthz"))
