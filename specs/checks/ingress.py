"""What stands between the callers and the routers, and what the platform is told to use."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from specs.checks.places import active, placed
from specs.problems import Problem, shown
from specs.settings.stack import Settings
from specs.stages import detect_seconds, lead_seconds


def problems(settings: Settings) -> Iterator[Problem]:
    """Balancer timeouts; the metrics source."""
    for path, model in active(settings):
        if not model.ingress.enabled:
            continue
        idle = model.ingress.idle_timeout_seconds
        needed = max(model.slo.ttft_seconds, model.drain.shutdown_seconds)
        if idle < needed:
            yield Problem(
                f"{path}.ingress.idleTimeoutSeconds",
                shown(idle),
                f"at least {needed:g}: the longest silence of a request (slo.ttftSeconds, drain.shutdownSeconds);"
                " the balancer answers 504 after it",
                f"use {max(300, -(-needed // 1)):.0f}",
            )
    for path, model, _ in placed(settings):
        wait = detect_seconds(settings) + lead_seconds(settings, model)
        idle = model.ingress.idle_timeout_seconds
        if model.ingress.enabled and model.replicas.min == 0 and idle < wait:
            yield Problem(
                f"{path}.ingress.idleTimeoutSeconds",
                shown(idle),
                f"at least {-(-wait // 1):.0f} with replicas.min 0: the first caller is held while a replica starts",
                f"use {max(300, -(-wait // 1)):.0f} or more, or replicas.min 1",
            )
    yield from _prometheus(settings)
    yield from _karpenter(settings)


def _prometheus(settings: Settings) -> Iterator[Problem]:
    prometheus = settings.platform.prometheus
    if not prometheus.install and prometheus.address is None:
        yield Problem(
            "platform.prometheus.address",
            "null with install false",
            "the address of a Prometheus that the autoscaler can query",
            "state it, e.g. http://prometheus.monitoring.svc:9090, or set install to true",
        )
    if prometheus.address is None and (prometheus.tenant is not None or prometheus.auth != "none"):
        yield Problem(
            "platform.prometheus.address",
            "null with tenant or auth",
            "the address these belong to",
            "state the address, or remove tenant and auth",
        )
    if "@" in urlsplit(prometheus.address or "").netloc:
        yield Problem(
            "platform.prometheus.address",
            "an address with a user or password in it",
            "an address alone: it stands in clear text in every ScaledObject and in the state",
            "put a proxy that authenticates in front of it, or use auth sigv4",
        )
    if prometheus.auth == "sigv4" and settings.cluster.mode != "eks":
        yield Problem(
            "platform.prometheus.auth",
            '"sigv4" with cluster.mode existing',
            "none: Pod Identity is set up only for a cluster of the program's own",
            "use auth none",
        )


def _installed(settings: Settings) -> Iterator[Problem]:
    """A new cluster has nothing yet: somebody must install what the program's objects need."""
    if settings.cluster.mode != "eks":
        return
    balanced = any(model.ingress.enabled for _, model in active(settings))
    for key, part, needed in (
        ("karpenter", settings.platform.karpenter, bool(settings.gpu_pools)),
        ("keda", settings.platform.keda, bool(settings.active_models)),
        ("loadBalancerController", settings.platform.load_balancer_controller, balanced),
    ):
        if needed and not part.install:
            yield Problem(
                f"platform.{key}.install",
                "false with cluster.mode eks",
                "true, unless you install it yourself before the first model: a new cluster has none",
                "set it to true",
            )


def _karpenter(settings: Settings) -> Iterator[Problem]:
    version = settings.platform.karpenter.version
    if version is None:
        return
    major, minor = (int(part) for part in version.lstrip("v").split(".")[:2])
    if (major, minor) < (1, 1):
        yield Problem(
            "platform.karpenter.version",
            shown(version),
            "1.1 or newer: the program declares karpenter.sh/v1, and 1.1 removed the stored v1beta1",
            "upgrade in order: 0.37 latest patch, 1.0 (migrate stored versions), then 1.1 and later",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """A public balancer without TLS or a key; what somebody else must make or install."""
    yield from _installed(settings)
    if (
        settings.cluster.mode == "existing"
        and settings.weights.backend == "s3"
        and not settings.weights.bucket_name
    ):
        yield Problem(
            "weights.bucketName",
            "null with cluster.mode existing, which builds no bucket",
            "a bucket that exists and that the engines' service accounts may read",
            "name it, or use backend hub",
        )
    for path, model in active(settings):
        if not model.ingress.enabled or model.ingress.scheme != "internet-facing":
            continue
        if not model.ingress.certificate_arn:
            yield Problem(
                f"{path}.ingress.certificateArn",
                "null with scheme internet-facing",
                "an ACM certificate: prompts would cross the internet in clear text",
                "name one, or use scheme internal",
            )
        if model.secret_name is None:
            yield Problem(
                f"{path}.secretName",
                "null with scheme internet-facing",
                "a Secret whose VLLM_API_KEY every caller must send: else anybody may use these GPUs",
                "name one, or use scheme internal",
            )
