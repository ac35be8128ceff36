"""Programs to judge: one that every rule passes, and the tools to spoil it in one place."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.pack import POLICIES
from policies.rule import ResourceRule, Rule

Props = dict[str, Any]
Program = dict[str, tuple[str, Props]]
"""Logical name to (type token, inputs)."""

UNKNOWN = UNKNOWN_STRING_VALUE
DIGEST = "sha256:" + "0123456789abcdef" * 4
IMAGE = f"vllm/vllm-openai:v0.33.0@{DIGEST}"
CONFIG: dict[str, Props] = {"gpu-limit": {"maxGpus": 16}, "gpu-demand": {"maxGpus": 16}}
RULES = {policy.name: cast("Rule", policy) for policy in POLICIES}


def pod(gpus: object = 1, **spec: object) -> Props:
    """The template of a vLLM pod on `gpus` GPUs that drains well within a spot notice."""
    engine = {
        "name": "vllm",
        "image": IMAGE,
        "args": ["model", "--tensor-parallel-size", str(gpus), "--shutdown-timeout", "60"],
        "resources": {"limits": {"nvidia.com/gpu": gpus}, "requests": {"nvidia.com/gpu": gpus}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 20}}},
    }
    filled: Props = {
        "terminationGracePeriodSeconds": 100,
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [engine],
        **spec,
    }
    return {"metadata": {"labels": {"app": "vllm", "model": "llama"}}, "spec": filled}


def deployment(gpus: object = 1, **spec: object) -> tuple[str, Props]:
    """An autoscaled Deployment: no replicas of its own, a surge of one."""
    return "kubernetes:apps/v1:Deployment", {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "llama", "namespace": "serving"},
        "spec": {
            "selector": {"matchLabels": {"app": "vllm"}},
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": pod(gpus),
            **spec,
        },
    }


def scaled_object(**spec: object) -> tuple[str, Props]:
    """A ScaledObject of 1 to 10 replicas on the router's load."""
    trigger = {
        "type": "prometheus",
        "name": "load",
        "metricType": "AverageValue",
        "metadata": {
            "serverAddress": "http://prometheus:9090",
            "query": 'sum(rate(vllm_router_processed_requests_total{model="llama"}[1m]))',
            "threshold": "1.65",
            "ignoreNullValues": "false",
        },
    }
    return "kubernetes:keda.sh/v1alpha1:ScaledObject", {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "llama", "namespace": "serving"},
        "spec": {
            "scaleTargetRef": {"name": "llama"},
            "minReplicaCount": 1,
            "maxReplicaCount": 10,
            "fallback": {"failureThreshold": 3, "replicas": 1, "behavior": "currentReplicasIfHigher"},
            "triggers": [trigger],
            **spec,
        },
    }


def budget(**spec: object) -> tuple[str, Props]:
    """A disruption budget over the pods of `deployment`."""
    return "kubernetes:policy/v1:PodDisruptionBudget", {
        "metadata": {"name": "llama", "namespace": "serving"},
        "spec": {"selector": {"matchLabels": {"app": "vllm"}}, **(spec or {"maxUnavailable": 1})},
    }


def pool(**spec: object) -> tuple[str, Props]:
    """A NodePool of g5 and g6 nodes, 16 GPUs at most."""
    node: Props = {
        "requirements": [
            {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g5", "g6"]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
        ],
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
        "expireAfter": "168h",
        "terminationGracePeriod": "1800s",
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
    }
    return "kubernetes:karpenter.sh/v1:NodePool", {
        "metadata": {"name": "inference"},
        "spec": {
            "limits": {"nvidia.com/gpu": "16"},
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "300s"},
            "template": {"spec": node},
            **spec,
        },
    }


def node_class(**spec: object) -> tuple[str, Props]:
    """An EC2NodeClass with an encrypted data disk and a dated image."""
    return "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {
        "metadata": {"name": "gpu"},
        "spec": {
            "amiSelectorTerms": [{"alias": "bottlerocket@v1.60.0"}],
            "blockDeviceMappings": [
                {"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "150Gi", "encrypted": True}}
            ],
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
            **spec,
        },
    }


def bucket_parts() -> Program:
    """A private, encrypted bucket that answers over TLS only."""
    deny = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": UNKNOWN,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    closed = dict.fromkeys(
        ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True
    )
    cipher = {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}}]}
    kind = "BucketServerSideEncryptionConfiguration"
    return {
        "weights": ("aws:s3/bucket:Bucket", {"bucket": "weights"}),
        "block": ("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", {"bucket": "weights", **closed}),
        "sse": (f"aws:s3/bucketServerSideEncryptionConfiguration:{kind}", {"bucket": "weights", **cipher}),
        "tls": ("aws:s3/bucketPolicy:BucketPolicy", {"bucket": "weights", "policy": {"Statement": [deny]}}),
    }


def good() -> Program:
    """A program that every rule passes with `CONFIG`."""
    return {
        "pool": pool(),
        "class": node_class(),
        "model": deployment(),
        "scaler": scaled_object(),
        "budget": budget(),
        "cluster": ("aws:eks/cluster:Cluster", {"vpcConfig": {"endpointPublicAccess": False}}),
        **bucket_parts(),
    }


def edited(program: Program, name: str, edit: Callable[[Props], object]) -> Program:
    """A copy of a program with one resource's inputs edited in place."""
    copy = deepcopy(program)
    edit(copy[name][1])
    return copy


def replaced(props: Props, path: tuple[Any, ...], value: Any) -> Props:
    """A copy with one place replaced."""
    copy: Any = deepcopy(props)
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copy


def spoilt() -> dict[str, Program]:
    """One violation for each rule, by rule."""
    program = good()

    def change(name: str, *path: Any, to: Any) -> Program:
        kind, props = good()[name]
        return program | {name: (kind, replaced(props, path, to))}

    containers = ("spec", "template", "spec", "containers", 0)
    return {
        "gpu-limit": change("pool", "spec", "limits", to={"cpu": 1}),
        "gpu-demand": change("scaler", "spec", "maxReplicaCount", to=200),
        "gpu-request": change("model", *containers, "resources", to={"requests": {"nvidia.com/gpu": 1}}),
        "pdb-present": {name: found for name, found in program.items() if name != "budget"},
        "pdb-drainable": change("budget", "spec", "maxUnavailable", to=0),
        "graceful-drain": change("model", "spec", "template", "spec", "terminationGracePeriodSeconds", to=30),
        "gpu-pool-disruption": change("pool", "spec", "template", "spec", "taints", to=[]),
        "scaling-works": change("scaler", "spec", "triggers", 0, "metadata", "query", to="bare"),
        "pinned-images": change("model", *containers, "image", to="vllm/vllm-openai:latest"),
        "private-by-default": {name: found for name, found in program.items() if name != "block"},
        "retain-data": change("weights", "forceDestroy", to=True),
    }


def container(props: Props) -> Props:
    """The first container of a Deployment's template."""
    return props["spec"]["template"]["spec"]["containers"][0]


def urn(name: str, kind: str) -> str:
    """The urn of a resource."""
    return f"urn:pulumi:dev::headroom::{kind}::{name}"


def options(*, protect: bool = True, ignored: Sequence[str] = ()) -> PolicyResourceOptions:
    """Resource options as the SDK builds them."""
    return PolicyResourceOptions(protect, list(ignored), None, [], PolicyCustomTimeouts(0, 0, 0), [])


def judged(
    name: str,
    program: Mapping[str, tuple[str, Props]],
    config: Props | None = None,
    *,
    protect: bool = True,
    namespace: object = None,
    contexts: Mapping[str, str] | None = None,
    sources: Mapping[str, Mapping[str, str]] | None = None,
) -> list[tuple[str, str]]:
    """(resource, message) of each violation that one rule reports, through the SDK's own proxies.

    `contexts` maps a resource to its provider's kube context, `sources` a resource's property to the
    resource it came from. Not-applicable gives one entry ("", "not applicable").
    """
    rule = RULES[name]
    given = CONFIG.get(name, {}) if config is None else config
    found: list[tuple[str, str]] = []
    resources = {
        key: PolicyResource(
            kind,
            unknown_checking_proxy(props),
            urn(key, kind),
            key,
            options(protect=protect),
            _provider(namespace, (contexts or {}).get(key)),
            None,
            [],
            {},
        )
        for key, (kind, props) in program.items()
    }
    for key, origins in (sources or {}).items():
        for field, origin in origins.items():
            resources[key].property_dependencies[field] = [resources[origin]]

    def report(message: str, at: str | None = None) -> None:
        found.append(((at or "").rsplit("::", 1)[-1], message))

    try:
        if isinstance(rule, ResourceRule):
            for item in resources.values():
                one = ResourceValidationArgs(
                    item.resource_type, item.props, item.urn, item.name, item.opts, item.provider, given
                )
                _run(rule, one, report)
        else:
            rule.validate(StackValidationArgs(list(resources.values()), given), report)
    except Exception as error:
        if type(error).__name__ != "_NotApplicableError":
            raise
        return [("", "not applicable")]
    return found


def _provider(namespace: object, context: str | None) -> PolicyProviderResource:
    props = unknown_checking_proxy({"namespace": namespace, "context": context})
    return PolicyProviderResource("pulumi:providers:kubernetes", props, "p", "p")


def _run(rule: ResourceRule, one: ResourceValidationArgs, report: Any) -> None:
    try:
        rule.validate(one, report)
    except Exception as error:
        if type(error).__name__ != "_NotApplicableError":
            raise


def messages(name: str, program: Program, config: Props | None = None) -> list[str]:
    """The messages of one rule over a program."""
    return [message for _, message in judged(name, program, config)]
