"""KEDA, Karpenter, the external metrics API and Prometheus: what all models rest on."""

from collections.abc import Iterator
from typing import Any, Final

from lab.control.parts.keda import EXTERNAL_METRICS
from lab.doctor.checks.fleet import moment, ready
from lab.doctor.checks.origin import MISSED
from lab.doctor.checks.there import unread
from lab.doctor.finding import STACK, Check, Finding
from lab.doctor.kinds import API_SERVICE, CONTROL_PLANE, DEPLOYMENT, LEASE
from lab.doctor.seen import Body, Seen, Unread, dig, labels, told
from lab.watch.targets import forwarding
from lab.watch.words import counted
from specs import series
from specs.names import KARPENTER_NAMESPACE, KARPENTER_SERVICE_ACCOUNT, KEDA_NAMESPACE, KEDA_OPERATOR
from specs.scaling import server_address
from specs.settings.stack import Settings

NAME: Final = "app.kubernetes.io/name"
MANAGER: Final = "controller-manager"
"""Kubernetes' own, the HPA controller in it."""


def of_stack(seen: Seen, settings: Settings) -> Iterator[Finding]:
    """Five checks."""
    platform = settings.platform
    keda, karpenter = Check("keda", STACK), Check("karpenter", STACK)
    yield _controller(keda, seen, KEDA_NAMESPACE, KEDA_OPERATOR, series.KEDA_UP, platform.keda.install)
    yield _controller(
        karpenter,
        seen,
        KARPENTER_NAMESPACE,
        KARPENTER_SERVICE_ACCOUNT,
        series.KARPENTER_UP,
        platform.karpenter.install,
    )
    yield _hpa_controller(Check("hpa-controller", STACK), seen)
    yield _external(Check("external-metrics", STACK), seen)
    yield _prometheus(Check("prometheus", STACK), seen, settings)


def _controller(check: Check, seen: Seen, namespace: str, app: str, metric: str, installed: bool) -> Finding:
    """By its Deployment, or its process on a lab; where it runs elsewhere, by its own metrics in Prometheus."""
    found = seen.every(DEPLOYMENT, namespace)
    own = [] if isinstance(found, Unread) else [one for one in found if labels(one).get(NAME) == app]
    if own:
        return _deployment(check, own[0], namespace)
    if app in seen.processes:
        return _process(check, seen, app)
    mend = f"kubectl -n {namespace} get deployment,pods; docs/runbook.md#{check.name}-unseen"
    if installed and not isinstance(found, Unread):
        return check.fails(f"there is no Deployment of {app} in {namespace}", mend)
    presence = seen.presence.get(metric, Unread("not asked"))
    if isinstance(presence, Unread):
        return check.unknown(
            f"no Deployment of {app} in {namespace}, and Prometheus: {presence.reason}", mend
        )
    if presence == "now":
        return check.passes(f"{metric} is there, so it runs and is scraped")
    if presence == "lately":
        return check.fails(
            f"{metric} was there within the hour and is gone: it is down, or not scraped", mend
        )
    return check.unknown(f"no Deployment of {app} in {namespace}, and no {metric} in Prometheus", mend)


def _process(check: Check, seen: Seen, name: str) -> Finding:
    how = seen.processes[name]
    if how == "well":
        return check.passes(f"the lab's process {name} is well")
    return check.fails(f"the lab's process {name} is {how}", f"headroom lab start {name}; its log says more")


def _hpa_controller(check: Check, seen: Seen) -> Finding:
    """HPAs keep their conditions when nobody looks at them any more; the lease of who should is renewed every 2 s."""
    if MANAGER in seen.processes:
        return _process(check, seen, MANAGER)
    lease = seen.one(LEASE, f"kube-{MANAGER}", CONTROL_PLANE)
    if isinstance(lease, Unread):
        return unread(check, lease, "leases of the control plane", "")
    if lease is None:
        return check.unknown(
            f"there is no Lease {CONTROL_PLANE}/kube-{MANAGER}: whether HPAs are looked at is not known"
        )
    renewed = seen.at - moment(dig(lease, "spec", "renewTime"))
    limit = MISSED * int(dig(lease, "spec", "leaseDurationSeconds", default=15))
    if renewed <= limit:
        return check.passes(f"kube-{MANAGER} renewed its lease {max(0.0, renewed):.0f} s ago")
    return check.fails(
        f"kube-{MANAGER} renewed its lease {renewed:.0f} s ago, at most {limit}: no HPA is looked at",
        "the control plane is the provider's: open a case; hold the replicas by kubectl scale meanwhile",
    )


def _deployment(check: Check, body: Body, namespace: str) -> Finding:
    wanted, up = dig(body, "spec", "replicas", default=1), dig(body, "status", "readyReplicas", default=0)
    name = body["metadata"]["name"]
    if up:
        return check.passes(f"Deployment {namespace}/{name}: {up} of {wanted} ready")
    return check.fails(
        f"Deployment {namespace}/{name}: 0 of {wanted} ready",
        f"kubectl -n {namespace} describe deployment,pods -l {NAME}={labels(body)[NAME]}",
    )


def _external(check: Check, seen: Seen) -> Finding:
    group, version = EXTERNAL_METRICS.split("/")
    name = f"{version}.{group}"
    found = seen.one(API_SERVICE, name)
    if isinstance(found, Unread):
        return unread(check, found, "APIServices", "")
    mend = f"kubectl describe apiservice {name}; KEDA's metrics server serves it"
    if found is None:
        return check.fails(f"there is no APIService {name}: the HPA can read no trigger", mend)
    status, words = told(found, "Available")
    service: dict[str, Any] = dig(found, "spec", "service", default={})
    by = f"{service.get('namespace')}/{service.get('name')}"
    if status == "True":
        return check.passes(f"APIService {name} is Available, served by {by}")
    return check.fails(f"APIService {name} of {by}: Available is {status or 'not set'}: {words}", mend)


def _prometheus(check: Check, seen: Seen, settings: Settings) -> Finding:
    if not isinstance(seen.now, Unread):
        return _of_this_cluster(check, seen, settings)
    evidence = f"{seen.prometheus}: {seen.now.reason}"
    mend = "docs/runbook.md#prometheus-down"
    if seen.lab:
        mend = "headroom lab start prometheus"
    if seen.prometheus == server_address(settings).rstrip("/"):
        return check.fails(f"{evidence}; KEDA asks the same address", mend)
    # Through a port-forward of this machine: what KEDA sees is another matter, which `hpa-reads` tells.
    return check.unknown(evidence, f"{forwarding(settings)} as --prometheus")


def _of_this_cluster(check: Check, seen: Seen, settings: Settings) -> Finding:
    """A forwarded port may lead to another cluster, of which nothing that follows would be true."""
    wait = MISSED * settings.platform.prometheus.scrape_seconds
    names: set[str] = set()
    for model in settings.active_models:
        pods = ready(seen, model, "router", wait)
        names |= set() if isinstance(pods, Unread) else {str(pod["metadata"]["name"]) for pod in pods}
    if isinstance(seen.targets, Unread) or not names:
        return check.passes(f"{seen.prometheus} answers")
    if any(dig(one, "labels", "pod") in names for one in seen.targets):
        return check.passes(f"{seen.prometheus} answers, and scrapes routers of this cluster")
    return check.fails(
        f"{seen.prometheus} answers and scrapes none of {counted(len(names), 'ready router')}: of another cluster?",
        "give this cluster's own as --prometheus; if it is, see targets:router",
    )
