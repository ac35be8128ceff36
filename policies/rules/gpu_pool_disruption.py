"""gpu-pool-disruption: Karpenter moves pods to save money unless told not to, and drains without a deadline.

WhenEmptyOrUnderutilized, the default, evicts a model that took minutes to load (karpenter-provider-aws
#5786). An expired node under a budget stays for days, paid for (karpenter #1776). A pool without a taint
fills with CPU pods that keep it from ever being empty (karpenter-provider-aws #8447).
"""

from fractions import Fraction

from pulumi_policy import Severity

from policies.configuration import Property
from policies.drain import grace
from policies.plain import UNKNOWN, Unknown, dig, items, shown
from policies.pools import Pool
from policies.quantity import seconds, text
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding

_EXPIRY = "720h"  # default of spec.template.spec.expireAfter, Karpenter v1 nodepool.go


def judge(scene: Scene, config: Config) -> Verdict:
    """Taint, consolidation, expiry and grace of every pool meant for GPUs."""
    opted_in = items(config["underutilizedPools"])
    pools = [pool for pool in scene.pools if pool.serves_gpus]
    if not pools:
        return None
    return [
        found
        for pool in pools
        for found in (*_taint(pool), *_consolidation(pool, pool.obj.name in opted_in), *_expiry(scene, pool))
    ]


def _taint(pool: Pool) -> list[Finding]:
    effects = [dig(taint, "effect") for taint in pool.taints]
    if pool.obj.partial or any(effect in ("NoSchedule", "NoExecute") for effect in effects):
        return []
    found = (
        "its taints are not known yet" if UNKNOWN in effects else "no taint keeps other pods off its nodes"
    )
    fix = "add spec.template.spec.taints: nvidia.com/gpu NoSchedule"
    return [finding(pool.obj, found, "a NoSchedule or NoExecute taint", fix)]


def _consolidation(pool: Pool, opted_in: bool) -> list[Finding]:
    stated = pool.obj.get("spec", "disruption", "consolidationPolicy")
    never = pool.obj.get("spec", "disruption", "consolidateAfter") == "Never"
    if stated == "WhenEmpty" or opted_in or never or pool.static is not None:
        return []
    if stated is None and pool.obj.partial:
        return []
    found = (
        "no consolidationPolicy, which means WhenEmptyOrUnderutilized" if stated is None else shown(stated)
    )
    fix = "set spec.disruption.consolidationPolicy: WhenEmpty, or name the pool in underutilizedPools"
    return [finding(pool.obj, found, "WhenEmpty", fix)]


def _expiry(scene: Scene, pool: Pool) -> list[Finding]:
    expiry = pool.obj.get("spec", "template", "spec", "expireAfter")
    deadline = pool.obj.get("spec", "template", "spec", "terminationGracePeriod")
    findings: list[Finding] = []
    if pool.obj.get("spec", "disruption", "expireAfter") is not None:
        found = "expireAfter under spec.disruption, where v1 does not read it"
        findings.append(finding(pool.obj, found, "spec.template.spec.expireAfter", "move it"))
    if deadline is None:
        if expiry != "Never" and not (pool.obj.partial and expiry is None):
            found = (
                f"nodes expire after {_EXPIRY if expiry is None else shown(expiry)} with no deadline to drain"
            )
            fix = "set spec.template.spec.terminationGracePeriod, or expireAfter: Never"
            findings.append(finding(pool.obj, found, "an expiry only with a termination grace", fix))
        return findings
    given = seconds(deadline)
    if given is None:
        found = f"terminationGracePeriod is {shown(deadline)}"
        findings.append(
            finding(pool.obj, found, 'a duration such as "1800s"', "write it as a plain duration")
        )
    elif scene.whole:
        findings += _above_pods(scene, pool, given)
    return findings


def _above_pods(scene: Scene, pool: Pool, given: Fraction) -> list[Finding]:
    findings: list[Finding] = []
    for workload in scene.gpu_workloads:
        longest = [
            (found, pods)
            for pods in workload.pods
            if pool.takes(pods.template) and (found := grace(pods.template))
        ]
        for found, _ in longest:
            if not isinstance(found, Unknown) and found >= given:
                said = f"terminationGracePeriod {text(given)} s, {workload.obj.label} takes {text(found)} s"
                fix = "raise the pool's grace: at its deadline pods are deleted at once, budgets or not"
                findings.append(finding(pool.obj, said, f"more than {text(found)} s", fix))
    return findings


POLICY = stack_rule(
    "gpu-pool-disruption",
    "GPU pools are tainted, consolidate only empty nodes, and never expire without a termination grace.",
    Severity.HIGH,
    judge,
    {"underutilizedPools": Property("texts", [], "names of GPU pools that may consolidate nodes in use")},
)
