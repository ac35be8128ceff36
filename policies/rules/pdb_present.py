"""pdb-present: without a budget, one drain or node upgrade may evict every replica of a model at once."""

from pulumi_policy import Severity

from policies.plain import shown
from policies.pods import labels, pod_gpus
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding
from policies.workloads import PodSet, Workload


def judge(scene: Scene, _config: Config) -> Verdict:
    """Each GPU workload that may have a replica has a budget in its namespace that selects its pods."""
    needing = [
        workload
        for workload in scene.gpu_workloads
        if workload.bounded and not workload.obj.partial and scene.most(workload) != 0
    ]
    if not needing:
        return None
    if not scene.whole:
        return []
    return [
        found
        for workload in needing
        for pods in workload.pods
        if pods.per_replica != 0 and pod_gpus(pods.template) != 0
        for found in _missing(scene, workload, pods)
    ]


def _missing(scene: Scene, workload: Workload, pods: PodSet) -> list[Finding]:
    answers = [budget.covers(workload, pods) for budget in scene.budgets]
    if True in answers:
        return []
    if None in answers:
        found = "whether a PodDisruptionBudget covers its pods is not known yet"
        fix = "write the budget's selector and namespace and the pods' labels as plain values"
    else:
        found = f"no PodDisruptionBudget in namespace {shown(workload.obj.namespace)} selects its pods"
        fix = f"add one with maxUnavailable 1 whose selector matches the labels {_labels(pods)}"
    return [finding(workload.obj, found, "a budget for each GPU workload", fix)]


def _labels(pods: PodSet) -> str:
    known = labels(pods.template) or {}
    return (
        ", ".join(f"{name}={value}" for name, value in sorted(known.items()) if isinstance(value, str))
        or "(none)"
    )


POLICY = stack_rule(
    "pdb-present",
    "Every GPU workload that may have a replica has a PodDisruptionBudget that selects its pods.",
    Severity.HIGH,
    judge,
)
