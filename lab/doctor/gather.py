"""Reads all that the checks need, at the same time; nothing raises, what can't be read is told as such."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from lightkube import Client

from lab.doctor import cluster, selectors
from lab.doctor.kinds import (
    CONTROL_PLANE,
    DEPLOYMENT,
    LEASE,
    OF_CLUSTER,
    OF_MODELS,
    POD,
    POD_MONITOR,
    RULE,
    SCALED_OBJECT,
)
from lab.doctor.prometheus import Prometheus
from lab.doctor.seen import Body, Seen, Unread, dig, labels
from lab.scenario.kinds import is_ready
from planner.preflight import run_quotas
from specs import series
from specs.alerts.rules import namespace as platform_namespace
from specs.labels import MODEL_KEY
from specs.names import KARPENTER_NAMESPACE, KEDA_NAMESPACE
from specs.scaling import scaled_object
from specs.settings.stack import Settings

THREADS = 12
MOST_WAITING = 20
"""Pods whose events are read; the rest wait for the same reasons."""
PRESENCE = (series.KEDA_UP, series.KARPENTER_UP)

Key = TypeVar("Key")
Found = TypeVar("Found")
Read = Mapping[tuple[str, str], list[Body] | Unread]


def gather(
    settings: Settings,
    stack: str,
    client: Client,
    prometheus: Prometheus,
    *,
    processes: Callable[[], Mapping[str, str]] | None = None,
    aws: bool = False,
    clock: Callable[[], float] = time.time,
) -> Seen:
    """One look at everything. `processes` tells how a lab's components are; None on a cluster. `client` and
    `prometheus` stay the caller's to close.
    """
    models = settings.active_models
    with ThreadPoolExecutor(THREADS, "doctor") as pool:
        limits = pool.submit(run_quotas, settings, stack) if aws else None
        running = None if processes is None else pool.submit(processes)
        objects = _objects(pool, settings, client)
        now, targets = pool.submit(prometheus.now), pool.submit(prometheus.targets)
        groups = pool.submit(prometheus.groups)
        answers = {
            (model.name, name): pool.submit(prometheus.vector, query)
            for model in models
            for name, query in selectors.queries(settings, model).items()
        }
        signals = {
            model.name: pool.submit(prometheus.signals, selectors.of_model(settings, model))
            for model in models
        }
        presence = {metric: pool.submit(prometheus.presence, metric) for metric in PRESENCE}
        read = _done(objects)
        external = _external(pool, settings, client, read)
        waiting = _waiting(pool, client, read)
        return Seen(
            at=clock(),
            lab=running is not None,
            processes={} if running is None else running.result(),
            objects=read,
            events=_done(waiting),
            external=_done(external),
            prometheus=prometheus.url,
            now=now.result(),
            targets=targets.result(),
            groups=groups.result(),
            answers=_done(answers),
            signals=_done(signals),
            presence=_done(presence),
            quotas=None if limits is None else limits.result(),
        )


def _done(asked: Mapping[Key, Future[Found]]) -> dict[Key, Found]:
    return {key: one.result() for key, one in asked.items()}


def _objects(
    pool: ThreadPoolExecutor, settings: Settings, client: Client
) -> dict[tuple[str, str], Future[list[Body] | Unread]]:
    wanted = [(kind, "") for kind in OF_CLUSTER]
    spaces = sorted({model.namespace for model in settings.active_models})
    wanted += [(kind, space) for space in spaces for kind in OF_MODELS]
    wanted.append((LEASE, CONTROL_PLANE))
    wanted += [(DEPLOYMENT, KEDA_NAMESPACE), (DEPLOYMENT, KARPENTER_NAMESPACE)]
    wanted += [(kind, platform_namespace(settings)) for kind in (POD_MONITOR, RULE)]
    return {
        (kind.name, space): pool.submit(cluster.listed, client, kind, space)
        for kind, space in dict.fromkeys(wanted)
    }


def _external(
    pool: ThreadPoolExecutor,
    settings: Settings,
    client: Client,
    read: Read,
) -> dict[tuple[str, str, str], Future[float | Unread]]:
    found: dict[tuple[str, str, str], Future[float | Unread]] = {}
    for model in settings.active_models:
        wanted: Any = scaled_object(settings, model)["metadata"]
        for body in _of(read, SCALED_OBJECT.name, model.namespace):
            if body["metadata"]["name"] == wanted["name"]:
                for metric in dig(body, "status", "externalMetricNames", default=()):
                    key = (model.namespace, wanted["name"], str(metric))
                    found[key] = pool.submit(cluster.external, client, *key)
    return found


def _waiting(pool: ThreadPoolExecutor, client: Client, read: Read) -> dict[str, Future[list[Body] | Unread]]:
    pods = [
        pod
        for kind, space in read
        if kind == POD.name
        for pod in _of(read, kind, space)
        if MODEL_KEY in labels(pod) and not is_ready(pod)
    ]
    return {
        str(dig(pod, "metadata", "uid", default="")): pool.submit(cluster.events, client, pod)
        for pod in pods[:MOST_WAITING]
    }


def _of(read: Read, kind: str, space: str) -> Sequence[Body]:
    found = read.get((kind, space), ())
    return () if isinstance(found, Unread) else found
