"""pdb-drainable: a budget that allows no eviction holds a node for ever, and the node is paid for.

The usual case is minAvailable 1 over one replica (Karpenter #2600, #669). The floor of the autoscaler
decides, since that is where the fleet spends the night; at a floor of 0 the first pod that exists does.
Scaling to zero is no eviction and is never blocked.
"""

from pulumi_policy import Severity

from policies.budgets import Budget, certain
from policies.plain import UNKNOWN, Unknown, shown
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding
from policies.workloads import Workload, product_sum

_FIX = "set maxUnavailable: 1 and unhealthyPodEvictionPolicy: AlwaysAllow, or raise the floor"
_ALLOWED = "at least one eviction at the floor"


def judge(scene: Scene, _config: Config) -> Verdict:
    """No budget refuses every eviction of the pods it selects."""
    if not scene.budgets:
        return None
    findings: list[Finding] = []
    for budget in scene.budgets:
        wrong = _by_itself(budget)
        if wrong is not None:
            findings.append(finding(budget.obj, wrong, _ALLOWED, _FIX))
        elif scene.whole:
            findings += _over_pods(scene, budget)
    if scene.whole:
        findings += [found for workload in scene.workloads for found in _twice(scene, workload)]
    return findings


def _by_itself(budget: Budget) -> str | None:
    """What is wrong with the fields whatever pods they meet."""
    least, most = budget.min_available, budget.max_unavailable
    if least is not None and most is not None:
        return f"both minAvailable {shown(least)} and maxUnavailable {shown(most)} are set; the API takes one"
    if least is None and most is None:
        return (
            None
            if budget.obj.partial
            else "neither minAvailable nor maxUnavailable is set, which allows nothing"
        )
    name, value = ("minAvailable", least) if most is None else ("maxUnavailable", most)
    many = budget.allowed(1_000_000)
    if isinstance(many, Unknown):
        return f"{name} is not known yet; write it as a plain value"
    if many is None:
        return f"{name} {shown(value)} is neither a count nor a percentage"
    if many == 0 and (most is not None or isinstance(least, str)):
        return f"{name} {shown(value)} blocks every eviction at any size"
    return None


def _over_pods(scene: Scene, budget: Budget) -> list[Finding]:
    answers = [
        (workload, [budget.covers(workload, pods) for pods in workload.pods])
        for workload in scene.workloads
        if scene.most(workload) != 0
    ]
    covered = [workload for workload, taken in answers if True in taken]
    if budget.allowed(1) != 1 and any(None in taken for _, taken in answers):
        found = "which pods it selects is not known yet"
        fix = "write selector, namespace and pod labels as plain values"
        return [finding(budget.obj, found, _ALLOWED, fix)]
    if not covered:
        return []
    unscaled = [workload.obj.label for workload in covered if not workload.scalable]
    if budget.needs_scale and unscaled:
        found = (
            f"it covers {', '.join(unscaled)}, which has no scale: only an integer minAvailable works there"
        )
        return [
            finding(budget.obj, found, _ALLOWED, "give it a budget of its own, or run it as a Deployment")
        ]
    floor = product_sum((scene.least(workload), workload.pods_per_replica) for workload in covered)
    if isinstance(floor, Unknown):
        names = ", ".join(workload.obj.label for workload in covered)
        return [
            finding(
                budget.obj, f"the floor of {names} is not known yet", _ALLOWED, "write it as a plain value"
            )
        ]
    if budget.allowed(max(1, floor)) == 0:
        return [finding(budget.obj, _blocked(budget, covered, floor), _ALLOWED, _FIX)]
    return []


def _blocked(budget: Budget, covered: list[Workload], floor: int) -> str:
    names = ", ".join(workload.obj.label for workload in covered)
    at = f"{floor} pods at the floor" if floor else "the first pod above a floor of 0"
    field = "minAvailable" if budget.max_unavailable is None else "maxUnavailable"
    value = budget.min_available if budget.max_unavailable is None else budget.max_unavailable
    return f"{field} {shown(value)} over {names} ({at}) allows no eviction"


def _twice(scene: Scene, workload: Workload) -> list[Finding]:
    """The eviction API refuses a pod that two budgets select (Kubernetes registry/core/pod eviction.go)."""
    budgets = certain(scene.budgets, workload)
    if len(budgets) < 2 or scene.most(workload) == 0 or UNKNOWN in [budget.obj.name for budget in budgets]:
        return []
    names = ", ".join(budget.obj.label for budget in budgets)
    found = f"{len(budgets)} budgets select the pods of {workload.obj.label} ({names}); none can be evicted"
    return [finding(budgets[-1].obj, found, "one budget per pod", "narrow the selectors, or keep one budget")]


POLICY = stack_rule(
    "pdb-drainable",
    "No PodDisruptionBudget blocks every eviction at the autoscaler's floor.",
    Severity.HIGH,
    judge,
)
