"""gpu-demand: pods beyond the pools' limits wait for ever ("instance types exceed limits", Karpenter #8068),
and demand beyond the cap is money nobody agreed to. The sum is taken where every replica, the surge of every
rollout and every warm spare exist at once.
"""

from collections.abc import Sequence
from fractions import Fraction

from pulumi_policy import Severity

from policies.configuration import Property
from policies.demand import Demand, demands
from policies.node_groups import gpu_groups
from policies.plain import Unknown
from policies.pools import Pool
from policies.quantity import text, whole
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding

_FIX = (
    "lower the maximum replicas, the surge or the warm spares, or raise the limit (spec.limits of the pool, "
    "gpu-demand.maxGpus of the stack's policy configuration)"
)


def judge(scene: Scene, config: Config) -> Verdict:
    """The largest demand fits the cap, the pools together, and each pool on its own."""
    cap = whole(config["maxGpus"]) or 0
    if not scene.whole:
        return _alone(scene, cap)
    parts = demands(scene)
    if not parts:
        return None
    findings = [
        finding(part.obj, part.unclear, "a bound that is known in preview", "write it as a plain value")
        for part in parts
        if part.gpus is None
    ]
    findings += _compare(parts, Fraction(cap), f"at most {cap} (maxGpus)")
    pools = [pool for pool in scene.pools if pool.can_offer_gpus]
    limits = [pool.most_gpus for pool in pools] + [most for _, most in gpu_groups(scene.resources)]
    known = [limit for limit in limits if isinstance(limit, Fraction)]
    if limits and len(known) == len(limits):
        total = sum(known, Fraction(0))
        findings += _compare(parts, total, f"at most {text(total)} (limits of the pools in this stack)")
    if len(pools) > 1:
        findings += [found for pool in pools for found in _own(pool, pools, parts)]
    return findings


def _alone(scene: Scene, cap: int) -> Verdict:
    """One workload that is above the cap whatever else the stack holds."""
    findings: list[Finding] = []
    for target in scene.gpu_workloads:
        gpus, replicas = target.gpus, target.replicas
        if target.obj.partial or isinstance(gpus, Unknown) or isinstance(replicas, Unknown):
            continue
        if gpus * replicas > cap:
            how = f"it asks for {replicas} replicas x {gpus} = {gpus * replicas} GPUs"
            findings.append(finding(target.obj, how, f"at most {cap} (maxGpus)", _FIX))
    return findings if scene.gpu_workloads else None


def _own(pool: Pool, pools: Sequence[Pool], parts: Sequence[Demand]) -> list[Finding]:
    """Demand that no other pool takes, against this pool's limit."""
    limit = pool.most_gpus
    if not isinstance(limit, Fraction):
        return []
    others = [other for other in pools if other is not pool]
    bound = [
        part for part in parts if pool.takes(part.pod) and not any(other.takes(part.pod) for other in others)
    ]
    return _compare(
        bound, limit, f"at most {text(limit)} (limit of {pool.obj.label}, the only pool that takes it)"
    )


def _compare(parts: Sequence[Demand], limit: Fraction, allowed: str) -> list[Finding]:
    counted = [(part.gpus, part) for part in parts if part.gpus]
    total = sum(gpus for gpus, _ in counted)
    if total <= limit:
        return []
    largest = max(counted, key=lambda entry: entry[0])[1]
    sums = "; ".join(f"{part.obj.label}: {part.how} = {gpus}" for gpus, part in counted)
    return [finding(largest.obj, f"demand may reach {text(total)} GPUs ({sums})", allowed, _FIX)]


POLICY = stack_rule(
    "gpu-demand",
    "Largest replicas, rollout surge and warm spares together fit the GPU pools and the stack's cap.",
    Severity.CRITICAL,
    judge,
    {"maxGpus": Property("count", 0, "GPUs that everything together may ask for; unset means none")},
)
