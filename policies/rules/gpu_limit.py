"""gpu-limit: a Karpenter pool without `limits` has no bound, and one typo in a scaler then buys a fleet.

Karpenter checks a pool's limit against eventually consistent counts (documentation "NodePools", Limits), so
the limit is a soft guard; the hard sum is `gpu-demand`.
"""

from fractions import Fraction

from pulumi_policy import Severity

from policies.configuration import Property
from policies.declared import KubeObject, Resource
from policies.node_groups import gpu_groups
from policies.plain import Unknown, shown
from policies.pods import GPU
from policies.pools import Pool
from policies.quantity import text, whole
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding


def judge(scene: Scene, config: Config) -> Verdict:
    """Each pool that can offer GPUs states a limit, and together they stay within `maxGpus`."""
    cap = whole(config["maxGpus"]) or 0
    pools = [pool for pool in scene.pools if pool.can_offer_gpus]
    groups = gpu_groups(scene.resources)
    if not pools and not groups:
        return None
    findings: list[Finding] = []
    total = Fraction(0)
    above = False
    for pool in pools:
        most = pool.most_gpus
        if most is None:
            if not pool.obj.partial:
                findings.append(_unlimited(pool))
        elif isinstance(most, Unknown):
            findings.append(_unreadable(pool))
        else:
            total += most
            if most > cap:
                above = True
                findings.append(_above(pool.obj, f"a limit of {text(most)} GPUs", cap))
    for group, most in groups:
        if isinstance(most, Unknown):
            fix = "write instanceTypes and scalingConfig.maxSize as plain values"
            findings.append(finding(group, "its GPUs can't be counted", "a count known in preview", fix))
        else:
            total += most
            if most > cap:
                above = True
                findings.append(_above(group, f"up to {text(most)} GPUs", cap))
    if scene.whole and total > cap and not above:
        known = [(pool.obj, pool.most_gpus) for pool in pools] + groups
        parts = " + ".join(f"{_name(on)} {text(most)}" for on, most in known if isinstance(most, Fraction))
        findings.append(_above(known[0][0], f"pools together may hold {text(total)} GPUs ({parts})", cap))
    return findings


def _name(on: KubeObject | Resource) -> str:
    return shown(on.name)


def _unlimited(pool: Pool) -> Finding:
    return finding(
        pool.obj,
        f"it can offer GPUs and spec.limits names no {GPU}",
        f"a stated {GPU} limit",
        f'set spec.limits["{GPU}"], or leave GPU types out (requirement instance-category In [c, m, r])',
    )


def _unreadable(pool: Pool) -> Finding:
    if pool.static is not None:
        found = f"a static pool of {shown(pool.obj.get('spec', 'replicas'))} nodes of unknown GPU count"
        fix = "write spec.replicas as a plain number and require instance-gpu-count In [n]"
    else:
        found = f"spec.limits[{GPU}] is {shown(pool.obj.get('spec', 'limits', GPU))}"
        fix = "write the limit as a plain value, not as an output of another resource"
    return finding(pool.obj, found, "a quantity of 0 or more that is known in preview", fix)


def _above(on: KubeObject | Resource, found: str, cap: int) -> Finding:
    fix = "lower the limit, or raise gpu-limit.maxGpus in the stack's policy configuration"
    return finding(on, found, f"at most {cap} (maxGpus)", fix)


POLICY = stack_rule(
    "gpu-limit",
    "Every pool that can offer GPUs states a GPU limit, and the limits fit the stack's cap.",
    Severity.CRITICAL,
    judge,
    {"maxGpus": Property("count", 0, "GPUs that all pools together may hold; unset means none")},
)
