"""scaling-works: a scaler that looks right and does nothing, or undoes itself.

Each check is a fault that reached production somewhere: a bare gauge works until there are two pods (KEDA
takes one element), a removed metric reads as 0, a mean under AverageValue would have needed 11,000 requests a
second for one more pod (ol-infrastructure #5304), a Prometheus outage scales everything to its minimum (KEDA
#3065), a service at zero has no pod left to ask for itself, `spec.replicas` resets the fleet on each update.
"""

from pulumi_policy import Severity

from policies.autoscalers import Autoscaler
from policies.metrics import CURRENT, wrong_name
from policies.plain import UNKNOWN, Plain, Unknown, dig, items, shown
from policies.pods import containers, is_vllm, vllm_version
from policies.quantity import whole
from policies.rule import stack_rule
from policies.scene import Scene
from policies.shape import of_engine
from policies.triggers import alive_at_zero, name_of, problems, shape_of
from policies.verdict import Config, Finding, Verdict, finding
from policies.workloads import Workload

_NEVER_LOWER = ("currentReplicasIfHigher", "currentReplicas")


def judge(scene: Scene, _config: Config) -> Verdict:
    """Triggers, fallback, wake-up signal, and who owns the replicas."""
    if not scene.autoscalers:
        return None
    findings: list[Finding] = []
    for scaler in scene.autoscalers:
        if scaler.keda:
            findings += _triggers(scaler) + _fallback(scaler)
            if scene.whole:
                findings += _metrics(scene, scaler)
    if scene.whole:
        for workload in scene.workloads:
            findings += _owners(scene, workload)
    return findings


def _triggers(scaler: Autoscaler) -> list[Finding]:
    triggers = items(scaler.obj.get("spec", "triggers"))
    holds = _holds(scaler)
    findings = [
        finding(scaler.obj, f"{name_of(trigger, index)}: {found}", allowed, fix)
        for index, trigger in enumerate(triggers)
        for found, allowed, fix in problems(trigger, holds=holds)
    ]
    if not triggers and not scaler.obj.partial:
        findings.append(finding(scaler.obj, "no trigger", "at least one", "add a trigger on offered load"))
    floor = scaler.floor
    if isinstance(floor, Unknown):
        found = "its floor (minReplicaCount) is not known yet"
        findings.append(finding(scaler.obj, found, "a plain number", "write it as a plain value"))
    elif floor == 0 and triggers and not any(alive_at_zero(trigger) for trigger in triggers):
        found = "a floor of 0 and only triggers that read the engine, which has no series at zero replicas"
        fix = "add a trigger on the router or the gateway, a cron window, or set minReplicaCount: 1"
        findings.append(finding(scaler.obj, found, "a wake-up signal that is alive at zero", fix))
    return findings


def _holds(scaler: Autoscaler) -> bool:
    """Whether the fallback exists and can't lower the replicas."""
    fallback = scaler.obj.get("spec", "fallback")
    if not isinstance(fallback, dict):
        return False
    behavior = fallback.get("behavior")
    if behavior in _NEVER_LOWER:
        return True
    most = scaler.ceiling
    return (
        behavior in (None, "static")
        and not isinstance(most, Unknown)
        and whole(fallback.get("replicas")) == most
    )


def _fallback(scaler: Autoscaler) -> list[Finding]:
    fallback = scaler.obj.get("spec", "fallback")
    if fallback is None:
        return []
    findings: list[Finding] = []
    if not _holds(scaler):
        behavior = dig(fallback, "behavior")
        found = (
            f"fallback behavior {shown('static' if behavior is None else behavior)} may lower the replicas"
        )
        fix = "set fallback.behavior: currentReplicasIfHigher"
        findings.append(finding(scaler.obj, found, " or ".join(_NEVER_LOWER), fix))
    replicas, floor, most = whole(dig(fallback, "replicas")), scaler.floor, scaler.ceiling
    if (
        not isinstance(floor, Unknown)
        and not isinstance(most, Unknown)
        and not _between(floor, replicas, most)
    ):
        found = f"fallback.replicas is {shown(dig(fallback, 'replicas'))}"
        findings.append(
            finding(scaler.obj, found, f"{floor} to {most} (min to max)", "bring it within the bounds")
        )
    target = scaler.obj.get("spec", "advanced", "scalingModifiers", "target")
    if isinstance(target, str) and target and not target.lstrip("+-").isdigit():
        found = f"scalingModifiers.target {shown(target)} is no integer, which switches the fallback off"
        findings.append(finding(scaler.obj, found, "an integer", "scale formula and target by 100"))
    return findings


def _between(least: int, value: int | None, most: int) -> bool:
    return value is not None and least <= value <= most


def _metrics(scene: Scene, scaler: Autoscaler) -> list[Finding]:
    """Engine metrics that the target's image does not export."""
    version = _version(scene, scaler)
    findings: list[Finding] = []
    for index, trigger in enumerate(items(scaler.obj.get("spec", "triggers"))):
        shape = shape_of(trigger)
        read = sorted({name for name, _ in shape.metrics}) if shape is not None else []
        for name in read:
            wrong = wrong_name(name, version, read) if of_engine(name) else None
            if wrong is not None:
                found = f"{name_of(trigger, index)} reads {name}: {wrong}"
                fix = "use a metric of the image: a missing one reads as 0 and never scales"
                findings.append(finding(scaler.obj, found, f"metrics that {_image(version)} exports", fix))
    return findings


def _image(version: tuple[int, int] | None) -> str:
    told = ".".join(map(str, version or CURRENT))
    return f"vLLM {told}" if version else f"the image (no tag tells its version: taken for vLLM {told})"


def _version(scene: Scene, scaler: Autoscaler) -> tuple[int, int] | None:
    for workload in scene.workloads:
        if scaler.acts_on(workload):
            images = [
                dig(container.body, "image")
                for pods in workload.pods
                for container in containers(pods.template)
                if is_vllm(container)
            ]
            return next((version for image in images if (version := vllm_version(image))), None)
    return None


def _owners(scene: Scene, workload: Workload) -> list[Finding]:
    """One autoscaler at most, and no replicas in the program beside it."""
    scalers = [scaler for scaler, certain in scene.scalers_of(workload) if certain]
    findings: list[Finding] = []
    if len(scalers) > 1:
        names = ", ".join(scaler.obj.label for scaler in scalers)
        found = f"{workload.obj.label} is scaled by {len(scalers)} autoscalers ({names})"
        findings.append(finding(scalers[-1].obj, found, "one per target", "remove all but one"))
    stated: Plain = workload.obj.get("spec", "replicas")
    ignored = any(
        path.split("[")[0] in ("spec", "spec.replicas", "*") for path in workload.obj.resource.ignore_changes
    )
    if scalers and stated is not None and workload.obj.resource.declared and not ignored:
        said = "not known yet" if stated is UNKNOWN else shown(stated)
        found = f"spec.replicas is {said} beside {scalers[0].obj.label}: each deployment resets the fleet"
        fix = "leave spec.replicas out, or put it under ignore_changes"
        findings.append(finding(workload.obj, found, "no spec.replicas on an autoscaled workload", fix))
    return findings


POLICY = stack_rule(
    "scaling-works",
    "Every trigger yields one series of an exported metric, survives an outage, and alone owns the replicas.",
    Severity.HIGH,
    judge,
)
