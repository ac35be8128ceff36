"""The engines may run on the pool's nodes: taints are tolerated, selectors and types are those of the pool."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from lab.doctor.checks.there import AGAIN, looked_up, unread
from lab.doctor.differences import differences, few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import DEPLOYMENT, NODE, NODE_POOL
from lab.doctor.seen import Body, Seen, Unread, dig, labels
from lab.watch.cluster import POOL
from lab.watch.words import counted
from specs import serving
from specs.engine_pod import placement
from specs.nodes import node_pool
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.taints import tolerates

REPELS: Final = ("NoSchedule", "NoExecute")
PASSING: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/")
"""Taints that come and go with a node's state; no pod is to tolerate them."""


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Tolerations against the taints of pool and nodes, and where the pods may go against the pool's labels."""
    check = Check("tolerations", model.name)
    live = looked_up(check, seen, DEPLOYMENT, serving.deployment(settings, model))
    if isinstance(live, Finding):
        yield live
        return
    pod: Mapping[str, Any] = dig(live, "spec", "template", "spec", default={})
    wanted = node_pool(settings, settings.pool(model.pool))
    pool = looked_up(check, seen, NODE_POOL, wanted)
    nodes = seen.every(NODE)
    if isinstance(pool, Finding):
        yield pool
    elif isinstance(nodes, Unread):
        yield unread(check, nodes, "nodes", "")
    else:
        own = [node for node in nodes if labels(node).get(POOL) == model.pool]
        yield _tolerated(check, pod, pool, own)
        yield _selected(Check("node-selector", model.name), settings, model, pod, pool, own)


def _tolerated(check: Check, pod: Mapping[str, Any], pool: Body, nodes: list[Body]) -> Finding:
    places = {f"pool {pool['metadata']['name']}": dig(pool, "spec", "template", "spec", "taints", default=())}
    places |= {f"node {one['metadata']['name']}": dig(one, "spec", "taints", default=()) for one in nodes}
    mine = pod.get("tolerations") or ()
    found = [
        f"{place} has the taint {_told(taint)}, which the engines do not tolerate"
        for place, taints in places.items()
        for taint in _lasting(taints)
        if not any(tolerates(one, taint) for one in mine)
    ]
    taints = ", ".join(sorted({_told(taint) for taints in places.values() for taint in _lasting(taints)}))
    return check.holds(
        few(found),
        f"{taints or 'no taint'} on the pool and {counted(len(nodes), 'node')}, tolerated",
        f"{AGAIN}; a taint of your own belongs into taints of the pool in the stack file",
    )


def _lasting(taints: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [
        one for one in taints if one.get("effect") in REPELS and not str(one.get("key")).startswith(PASSING)
    ]


def _told(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def _selected(
    check: Check, settings: Settings, model: Model, pod: Mapping[str, Any], pool: Body, nodes: list[Body]
) -> Finding:
    wanted = {key: value for key, value in placement(settings, model).items() if key != "tolerations"}
    template = dig(pool, "spec", "template", default={})
    given = {POOL: model.pool, **dig(template, "metadata", "labels", default={})}
    found = differences(wanted, pod)
    selector: Mapping[str, str] = pod.get("nodeSelector") or {}
    found += [
        f"nodeSelector {key}={value}, and no node of the pool has it"
        for key, value in selector.items()
        if given.get(key) != value and not any(labels(node).get(key) == value for node in nodes)
    ]
    return check.holds(
        few(found),
        f"{', '.join(f'{key}={value}' for key, value in selector.items())}, and the types that fit",
        AGAIN,
    )
