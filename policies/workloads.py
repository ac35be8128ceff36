"""Everything that runs pods, whatever its kind: its pod templates, how many of each, how it is replaced."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from policies.declared import KubeObject
from policies.plain import UNKNOWN, Plain, Unknown, dig, items, walk
from policies.pods import pod_gpus
from policies.quantity import share, whole

Count = int | Unknown


@dataclass(frozen=True)
class PodSet:
    """Pods of one template; `per_replica` of them exist for each replica of the workload."""

    template: Plain
    per_replica: Count


@dataclass(frozen=True, eq=False)
class Workload:
    """A controller of pods, or a bare pod."""

    obj: KubeObject
    pods: tuple[PodSet, ...]
    replicas: Count
    """Replicas without an autoscaler: stated, else the kind's default."""
    serving: bool
    """Runs until told otherwise (a Deployment), unlike a Job."""
    scalable: bool
    """Has the scale subresource, which percentages and maxUnavailable of a disruption budget need."""
    bounded: bool = True
    """False where no field bounds the number of pods (a DaemonSet, overlapping CronJob runs)."""
    group_labels: tuple[tuple[str, Plain], ...] = ()
    """Labels its controller adds to each pod."""

    @cached_property
    def gpus(self) -> Count:
        """GPUs of one replica."""
        return product_sum((pods.per_replica, pod_gpus(pods.template)) for pods in self.pods)

    @cached_property
    def pods_per_replica(self) -> Count:
        """Pods of one replica."""
        return product_sum((pods.per_replica, 1) for pods in self.pods)

    def surge(self, replicas: int) -> Count:
        """Extra replicas a rollout may add; percentages round up (Kubernetes `ResolveFenceposts`)."""
        if self.obj.kind == "Deployment":
            strategy = self.obj.get("spec", "strategy")
            if dig(strategy, "type") == "Recreate":
                return 0
            stated, default = dig(strategy, "rollingUpdate", "maxSurge"), "25%"
        elif self.obj.kind == "LeaderWorkerSet":
            stated = self.obj.get("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge")
            default = 0
        else:
            return 0
        if stated is UNKNOWN:
            return UNKNOWN if replicas else 0
        extra = share(default if stated is None else stated, replicas, round_up=True)
        return UNKNOWN if extra is None else extra if replicas else 0


def count(value: Plain, default: int) -> Count:
    """A replica count: the default when absent, `UNKNOWN` when it can't be read."""
    if value is None:
        return default
    number = whole(value)
    return UNKNOWN if number is None or number < 0 else number


def product_sum(pairs: Iterable[tuple[Count, Count]]) -> Count:
    """The sum of products; nothing times anything is nothing, else one unknown makes it unknown."""
    total = 0
    for left, right in pairs:
        if left == 0 or right == 0:
            continue
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        total += left * right
    return total


def workload(obj: KubeObject) -> Workload | None:
    """The workload an object is; `None` for every other kind of object."""
    build = _KINDS.get((obj.group, obj.kind))
    if build is not None:
        return build(obj)
    return None if obj.group in _NEVER_PODS or obj.kind == "PodTemplate" else _foreign(obj)


def _pod(obj: KubeObject) -> Workload:
    return Workload(obj, (PodSet(obj.body, 1),), 1, serving=True, scalable=False)


def _controller(obj: KubeObject) -> Workload:
    replicas = obj.get("spec", "replicas")
    known = count(replicas, 1) if not (obj.partial and replicas is None) else UNKNOWN
    return Workload(obj, (PodSet(obj.get("spec", "template"), 1),), known, serving=True, scalable=True)


def _daemon_set(obj: KubeObject) -> Workload:
    pods = (PodSet(obj.get("spec", "template"), 1),)
    return Workload(obj, pods, 1, serving=True, scalable=False, bounded=False)


def _job(obj: KubeObject) -> Workload:
    spec = obj.get("spec")
    return Workload(obj, (_job_pods(spec),), 1, False, False, group_labels=(("job-name", obj.name),))


def _cron_job(obj: KubeObject) -> Workload:
    pods = (_job_pods(obj.get("spec", "jobTemplate", "spec")),)
    one_at_a_time = obj.get("spec", "concurrencyPolicy") in ("Forbid", "Replace")
    return Workload(obj, pods, 1, serving=False, scalable=False, bounded=one_at_a_time)


def _job_set(obj: KubeObject) -> Workload:
    sets: list[PodSet] = []
    for entry in items(obj.get("spec", "replicatedJobs")):
        jobs = count(dig(entry, "replicas"), 1)
        pods = _job_pods(dig(entry, "template", "spec"))
        sets.append(PodSet(pods.template, product_sum([(jobs, pods.per_replica)])))
    return Workload(
        obj, tuple(sets), 1, False, False, group_labels=(("jobset.sigs.k8s.io/jobset-name", obj.name),)
    )


def _leader_worker_set(obj: KubeObject) -> Workload:
    template = obj.get("spec", "leaderWorkerTemplate")
    size = count(dig(template, "size"), 1)
    worker = dig(template, "workerTemplate")
    leader = dig(template, "leaderTemplate")
    workers = size if isinstance(size, Unknown) else max(0, size - 1)
    pods = (PodSet(worker if leader is None else leader, 1), PodSet(worker, workers))
    added = (("leaderworkerset.sigs.k8s.io/name", obj.name),)
    return Workload(obj, pods, count(obj.get("spec", "replicas"), 1), True, True, group_labels=added)


def _scaled_job(obj: KubeObject) -> Workload:
    most = count(obj.get("spec", "maxReplicaCount"), 100)
    return Workload(obj, (_job_pods(obj.get("spec", "jobTargetRef")),), most, serving=False, scalable=False)


def _job_pods(spec: Plain) -> PodSet:
    return PodSet(dig(spec, "template"), count(dig(spec, "parallelism"), 1))


def _foreign(obj: KubeObject) -> Workload | None:
    """A kind this pack can't count: matters only when a pod template inside it asks for GPUs."""
    templates: list[dict[str, Plain]] = [
        {"spec": value}
        for path, value in walk(obj.body)
        if isinstance(value, dict) and isinstance(value.get("containers"), list) and "status" not in path[:1]
    ]
    asking = tuple(PodSet(template, UNKNOWN) for template in templates if pod_gpus(template) != 0)
    return Workload(obj, asking, UNKNOWN, serving=False, scalable=False, bounded=False) if asking else None


_NEVER_PODS = frozenset(
    {
        "karpenter.sh",
        "karpenter.k8s.aws",
        "autoscaling.x-k8s.io",
        "autoscaling",
        "policy",
        "apiextensions.k8s.io",
    }
)
_KINDS = {
    ("", "Pod"): _pod,
    ("", "ReplicationController"): _controller,
    ("apps", "Deployment"): _controller,
    ("apps", "ReplicaSet"): _controller,
    ("apps", "StatefulSet"): _controller,
    ("extensions", "Deployment"): _controller,
    ("apps", "DaemonSet"): _daemon_set,
    ("batch", "Job"): _job,
    ("batch", "CronJob"): _cron_job,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leader_worker_set,
    ("keda.sh", "ScaledJob"): _scaled_job,
}
