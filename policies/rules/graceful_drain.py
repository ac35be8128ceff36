"""graceful-drain: streams cut at every scale-down (vLLM aborts requests on SIGTERM unless told to drain).

vLLM takes up to 10 s after its last request to exit, and hangs its clients when a request outlasts the drain;
so the grace is longer than preStop + --shutdown-timeout + 10 s. A spot notice is about 120 s in all, and a
longer grace is simply cut (karpenter-provider-aws #7419).
"""

from fractions import Fraction

from pulumi_policy import Severity

from policies.configuration import Property
from policies.drain import grace, longest, pre_stop, shutdown
from policies.plain import Plain, Unknown, dig
from policies.pods import command_line, containers, is_vllm, vllm_version
from policies.pools import CAPACITY_TYPE, node_demands
from policies.quantity import text, whole
from policies.rule import stack_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding
from policies.workloads import Workload

MARGIN = 10
FLAG_SINCE = (0, 18)  # vLLM v0.18.0, pull request 34730


def judge(scene: Scene, config: Config) -> Verdict:
    """Every GPU pod, and every vLLM pod, has time to stop."""
    notice = whole(config["spotNoticeSeconds"]) or 0
    judged = [
        (workload, pods.template)
        for workload in scene.workloads
        for pods in workload.pods
        if pods.per_replica != 0
        and (
            workload in scene.gpu_workloads
            or any(is_vllm(container) for container in containers(pods.template))
        )
    ]
    if not judged:
        return None
    return [
        found
        for workload, pod in judged
        for found in (*_drain(workload, pod), *_engine(workload, pod), *_spot(scene, workload, pod, notice))
    ]


def _drain(workload: Workload, pod: Plain) -> list[Finding]:
    if workload.obj.partial and dig(pod, "spec", "terminationGracePeriodSeconds") is None:
        return []
    given, needed = grace(pod), longest(pod)
    if isinstance(given, Unknown) or isinstance(needed, Unknown):
        found = "its grace, preStop or --shutdown-timeout can't be read now"
        return [finding(workload.obj, found, "values known in preview", "write them as plain numbers")]
    if given > needed + MARGIN:
        return []
    found = (
        f"terminationGracePeriodSeconds {text(given)} with preStop + --shutdown-timeout of {text(needed)} s"
    )
    allowed = f"more than {text(needed + MARGIN)} s (preStop + --shutdown-timeout + {MARGIN})"
    return [finding(workload.obj, found, allowed, "raise the grace, or shorten the drain")]


def _engine(workload: Workload, pod: Plain) -> list[Finding]:
    """The drain of a vLLM engine that serves: it exists, and the image knows the flag."""
    findings: list[Finding] = []
    for container in containers(pod):
        if not workload.serving or workload.obj.partial or not is_vllm(container):
            continue
        version = vllm_version(dig(container.body, "image"))
        stated = command_line(container).option("--shutdown-timeout")
        if stated is not None and version is not None and version < FLAG_SINCE:
            found = f"vLLM {version[0]}.{version[1]} does not know --shutdown-timeout and would not start"
            findings.append(
                finding(workload.obj, found, "v0.18.0 or newer", "drop the flag, size preStop alone")
            )
        if shutdown(container) == 0 and pre_stop(container) == 0:
            found = "neither preStop nor --shutdown-timeout: SIGTERM aborts the requests in flight"
            fix = "set --shutdown-timeout to the longest request and a preStop sleep of 20 s"
            findings.append(finding(workload.obj, found, "a drain before the engine stops", fix))
    return findings


def _spot(scene: Scene, workload: Workload, pod: Plain, notice: int) -> list[Finding]:
    given = grace(pod)
    if not scene.whole or isinstance(given, Unknown) or given <= Fraction(notice) or not on_spot(scene, pod):
        return []
    found = f"terminationGracePeriodSeconds {text(given)} on pools that may launch spot nodes"
    allowed = f"at most {notice} s (spotNoticeSeconds)"
    fix = f"shorten the drain, or keep it off spot (nodeSelector {CAPACITY_TYPE}: on-demand)"
    return [finding(workload.obj, found, allowed, fix)]


def on_spot(scene: Scene, pod: Plain) -> bool:
    """Whether a pod may land on a spot node: by its own selection, else by the pools that take it."""
    wanted = [allowed for key, allowed in node_demands(pod) if key == CAPACITY_TYPE]
    if wanted and not all("spot" in allowed for allowed in wanted):
        return False
    pools = [pool for pool in scene.pools if pool.can_offer_gpus and pool.takes(pod)]
    return any(pool.spot for pool in pools) or (bool(wanted) and not pools)


POLICY = stack_rule(
    "graceful-drain",
    "A GPU pod's grace is longer than its preStop, the engine's drain and 10 s; on spot it fits the notice.",
    Severity.HIGH,
    judge,
    {"spotNoticeSeconds": Property("count", 110, "seconds of a spot notice that a drain may use")},
)
