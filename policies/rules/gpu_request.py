"""gpu-request: GPUs that the scheduler and the engine count differently.

Kubernetes refuses a GPU request that differs from its limit; vLLM fails or leaves cards idle when tensor
parallel x pipeline parallel is not the number of cards (vllm #8908, #13188); and a GPU asked for inside the
values of a Helm release is invisible to every other rule here (pulumi-kubernetes #2057).
"""

import math
import re

from pulumi_policy import Severity

from policies.declared import Resource
from policies.plain import UNKNOWN, Plain, Unknown, shown, walk
from policies.pods import GPU, Container, command_line, containers, is_vllm
from policies.quantity import quantity, text, whole
from policies.rule import resource_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding
from policies.workloads import Workload

_TENSOR = ("--tensor-parallel-size", "-tp")
_PIPELINE = ("--pipeline-parallel-size", "-pp")
_DATA = ("--data-parallel-size-local", "-dpl"), ("--data-parallel-size", "-dp")
_LABELS = ("nodeSelector", "labels", "podLabels", "nodeLabels", "annotations", "matchLabels")
_IN_TEXT = re.compile(r"nvidia\.com/gpu[\"']?\s*:\s*[\"']?([0-9][0-9a-zA-Z.]{0,20})")


def judge(scene: Scene, _config: Config) -> Verdict:
    """Requests, limits and parallelism of every container; nothing hidden in a release."""
    releases = [resource for resource in scene.resources if resource.type == "kubernetes:helm.sh/v3:Release"]
    if not scene.workloads and not releases:
        return None
    findings = [
        found
        for workload in scene.workloads
        for pods in workload.pods
        for container in containers(pods.template)
        for found in _container(workload, container)
    ]
    return list(dict.fromkeys(findings + [found for release in releases for found in _release(release)]))


def _container(workload: Workload, container: Container) -> list[Finding]:
    where = f"container {container.name}"
    request, limit = container.gpu("requests"), container.gpu("limits")
    if isinstance(request, Unknown) or isinstance(limit, Unknown):
        if container.body is UNKNOWN and workload.obj.partial:
            return []
        found = f"{where}: its {GPU} request or limit is not known yet"
        return [finding(workload.obj, found, "a whole number known in preview", "write it as a plain number")]
    amounts = [amount for amount in (request, limit) if amount is not None]
    if not amounts or max(amounts) == 0:
        return []
    findings: list[Finding] = []
    if any(amount.denominator != 1 for amount in amounts):
        found = f"{where}: {text(max(amounts))} of {GPU}"
        findings.append(finding(workload.obj, found, "whole GPUs", "ask for a whole number"))
    if limit is None or (request is not None and request != limit):
        said = "no limit" if limit is None else f"limit {text(limit)}"
        found = f"{where}: request {text(request or 0)} and {said} of {GPU}"
        findings.append(
            finding(workload.obj, found, "request = limit", "set the limit; the request follows it")
        )
    if is_vllm(container):
        findings += _parallel(workload, container, math.ceil(max(amounts)))
    return findings


def _parallel(workload: Workload, container: Container, gpus: int) -> list[Finding]:
    line = command_line(container)
    if not line.known:
        found = f"container {container.name}: its arguments are not known yet"
        return [finding(workload.obj, found, "arguments known in preview", "write them as plain strings")]
    local = line.option(*_DATA[0])
    stated = [
        line.option(*_TENSOR),
        line.option(*_PIPELINE),
        local if local is not None else line.option(*_DATA[1]),
    ]
    sizes = [1 if value is None else whole(value) for value in stated]
    shown_sizes = " x ".join(
        f"{name} {value or 1}" for name, value in zip(("TP", "PP", "DP"), stated, strict=True)
    )
    known = [size for size in sizes if size is not None]
    nodes = workload.pods_per_replica if workload.obj.kind == "LeaderWorkerSet" else 1
    if (
        len(known) == len(sizes)
        and not isinstance(nodes, Unknown)
        and math.prod(known) in (gpus, gpus * nodes)
    ):
        return []
    found = f"container {container.name}: {gpus} GPUs for {shown_sizes}"
    fix = "make --tensor-parallel-size x --pipeline-parallel-size equal the GPU limit"
    return [finding(workload.obj, found, "as many GPUs as the engine uses", fix)]


def _release(release: Resource) -> list[Finding]:
    values = release.get("values")
    fix = "declare the workload as a resource of its own, where the other rules see it"
    if values is UNKNOWN:
        return [
            finding(
                release,
                "its values are not known yet",
                "values known in preview",
                "write them as plain values",
            )
        ]
    found: list[str] = []
    for path, value in walk(values):
        hidden = value is UNKNOWN and path and path[-1] in ("resources", "limits", "requests", GPU)
        if hidden or (path and path[-1] == GPU and _asks(path, value)):
            found.append(f"values.{'.'.join(path)} is {shown(value)}")
    for path, value in walk(release.get("valueYamlFiles")):
        if path and path[-1] == "text" and isinstance(value, str):
            found += [
                f"a values file asks for {amount} of {GPU}"
                for amount in _IN_TEXT.findall(value)
                if quantity(amount)
            ]
    return [finding(release, said, "no GPU inside a Helm release", fix) for said in found]


def _asks(path: tuple[str, ...], value: Plain) -> bool:
    amount = quantity(value)
    labelled = any(part in _LABELS for part in path[:-1])
    return not labelled and amount is not None and amount > 0


POLICY = resource_rule(
    "gpu-request",
    "GPU requests equal limits, parallelism equals GPUs, and no Helm release asks for GPUs out of sight.",
    Severity.HIGH,
    judge,
)
