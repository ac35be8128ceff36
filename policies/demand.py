"""GPUs that workloads and warm capacity may ask for at their largest, and what could not be read."""

import math
from dataclasses import dataclass

from policies.autoscalers import Buffer
from policies.declared import KubeObject
from policies.objects import same
from policies.plain import UNKNOWN, Plain, Unknown, dig, shown
from policies.pods import GPU, pod_gpus
from policies.quantity import quantity
from policies.scene import Scene
from policies.workloads import Count, Workload, count


@dataclass(frozen=True)
class Demand:
    """What one object may ask for; `gpus` is `None`, with the reason, when it has no known bound."""

    obj: KubeObject
    gpus: int | None
    how: str
    unclear: str = ""
    pod: Plain = None
    """The pod template that asks, to find the pools that take it."""


def demands(scene: Scene) -> list[Demand]:
    """One entry for each GPU workload and each GPU buffer."""
    found = [_workload(scene, target) for target in scene.gpu_workloads]
    return found + [part for buffer in scene.buffers if (part := _buffer(scene, buffer)) is not None]


def _workload(scene: Scene, target: Workload) -> Demand:
    gpus, most = target.gpus, scene.most(target)
    pod = target.pods[0].template if target.pods else None
    unsure = [scaler.obj.label for scaler, certain in scene.scalers_of(target) if not certain]
    surge = UNKNOWN if isinstance(most, Unknown) else target.surge(most)
    if not target.bounded:
        return _unclear(target.obj, f"no field bounds how many pods a {target.obj.kind} runs at once", pod)
    if unsure:
        return _unclear(target.obj, f"{', '.join(unsure)} may act on it: its target is not known yet", pod)
    if isinstance(gpus, Unknown):
        return _unclear(target.obj, "its pod template, pod count or GPU request is not known yet", pod)
    if isinstance(most, Unknown):
        return _unclear(target.obj, "its replicas or its autoscaler's maximum are not known yet", pod)
    if isinstance(surge, Unknown):
        return _unclear(target.obj, "its rollout surge is not known yet", pod)
    how = f"({most} replicas + {surge} surge) x {gpus}" if surge else f"{most} replicas x {gpus}"
    return Demand(target.obj, (most + surge) * gpus, how, pod=pod)


def _unclear(obj: KubeObject, reason: str, pod: Plain) -> Demand:
    return Demand(obj, None, "", reason, pod)


def _buffer(scene: Scene, buffer: Buffer) -> Demand | None:
    """A CapacityBuffer's size is min(max(replicas, percentage), limits); Karpenter v1.15 capacitybuffer."""
    per_chunk, base, pod, unclear = _chunk(scene, buffer)
    if per_chunk == 0:
        return None
    if unclear or isinstance(per_chunk, Unknown):
        return _unclear(buffer.obj, unclear or "the GPUs of its pod are not known yet", pod)
    chunks = _chunks(buffer, base, per_chunk)
    if isinstance(chunks, Unknown):
        return _unclear(buffer.obj, "its replicas, percentage or limits are not known yet", pod)
    return Demand(buffer.obj, chunks * per_chunk, f"{chunks} warm x {per_chunk}", pod=pod)


def _chunk(scene: Scene, buffer: Buffer) -> tuple[Count, Count, Plain, str]:
    """GPUs of one chunk, the replicas a percentage is taken of, the pod, and what is unclear."""
    template = buffer.obj.get("spec", "podTemplateRef")
    if template is not None:
        for candidate in scene.kind("", "PodTemplate"):
            answers = (
                candidate.beside(buffer.obj),
                same(candidate.name, dig(template, "name")),
            )
            if answers == (True, True):
                pod = candidate.get("template")
                return pod_gpus(pod), 0, pod, ""
        return UNKNOWN, 0, None, f"its PodTemplate {shown(dig(template, 'name'))} is not in this stack"
    answers = [(target, buffer.refers_to(target)) for target in scene.workloads]
    for target, answer in answers:
        if answer:
            return target.gpus, scene.most(target), target.pods[0].template, ""
    if any(answer is None and target.gpus != 0 for target, answer in answers):
        return UNKNOWN, 0, None, "its target is not known yet"
    reference = buffer.obj.get("spec", "scalableRef")
    if buffer.obj.get("spec", "limits", GPU) is None and reference is not UNKNOWN:
        return 0, 0, None, ""
    return UNKNOWN, 0, None, f"its target {shown(dig(reference, 'name'))} is not in this stack"


def _chunks(buffer: Buffer, base: Count, per_chunk: int) -> Count:
    spec = buffer.obj.get("spec")
    wanted: list[Count] = []
    if dig(spec, "replicas") is not None:
        wanted.append(count(dig(spec, "replicas"), 0))
    if dig(spec, "percentage") is not None:
        percentage = count(dig(spec, "percentage"), 0)
        if isinstance(percentage, Unknown) or isinstance(base, Unknown):
            wanted.append(UNKNOWN)
        elif base > 0 and percentage > 0:
            wanted.append(max(1, math.ceil(base * percentage / 100)))
    most = quantity(dig(spec, "limits", GPU))
    within = None if most is None else math.floor(most / per_chunk)
    if dig(spec, "limits") is UNKNOWN or (dig(spec, "limits", GPU) is not None and within is None):
        return UNKNOWN
    known = [number for number in wanted if not isinstance(number, Unknown)]
    if len(known) < len(wanted):
        return UNKNOWN if within is None else within
    if not known:
        return 0 if within is None else within
    return max(known) if within is None else min(max(known), within)
