"""A GPU pool: ready, its class too, room below its limit for every replica, and nodes whose GPUs can be used."""

from collections.abc import Iterator

from lab.doctor.checks.fleet import age
from lab.doctor.checks.there import AGAIN, looked_up, spec_of, unread
from lab.doctor.differences import differences, few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import EC2_CLASS, KWOK_CLASS, NODE, NODE_POOL
from lab.doctor.seen import Body, Seen, Unread, dig, labels, told
from lab.scenario.kinds import condition, is_leaving
from lab.watch.cluster import POOL
from lab.watch.words import counted
from specs import nodes
from specs.engine_pod import GPU
from specs.gpus import demands
from specs.quantity import QuantityError, parse_number
from specs.settings.stack import GpuPool, Settings

REGISTER_SECONDS = 900
"""Karpenter ends an instance that has not joined by then (pkg/controllers/nodeclaim/lifecycle/liveness.go)."""


def of_pool(seen: Seen, settings: Settings, pool: GpuPool) -> Iterator[Finding]:
    """Four checks; without a NodePool two."""
    check, limit = Check("node-pool", pool.name), Check("gpu-limit", pool.name)
    wanted = nodes.node_pool(settings, pool)
    live = looked_up(check, seen, NODE_POOL, wanted)
    if isinstance(live, Finding):
        yield live
    else:
        ready = _ready(check, live, "nodepool")
        yield _as_declared(check, wanted, live) if ready.verdict == "pass" else ready
        yield _room(limit, settings, pool, live)
    check = Check("node-class", pool.name)
    kind = KWOK_CLASS if pool.node_class == "kwok" else EC2_CLASS
    live = looked_up(check, seen, kind, nodes.kwok_node_class(pool))
    yield live if isinstance(live, Finding) else _ready(check, live, kind.plural[:-2])
    yield _nodes(Check("gpu-nodes", pool.name), seen, pool)


def _ready(check: Check, live: Body, plural: str) -> Finding:
    name = live["metadata"]["name"]
    status, words = told(live, "Ready")
    if status == "True":
        return check.passes("Ready")
    others = [
        f"{one} is False: {told(live, one)[1]}"
        for one in sorted(
            {str(entry["type"]) for entry in dig(live, "status", "conditions", default=())} - {"Ready"}
        )
        if condition(live, one) == "False"
    ]
    return check.fails(
        "; ".join([f"Ready is {status or 'not set'}: {words or 'Karpenter has not looked at it'}", *others]),
        f"kubectl describe {plural} {name}",
    )


def _as_declared(check: Check, wanted: object, live: Body) -> Finding:
    """With the requirements, taints and disruption of the stack; the limit is a check of its own."""
    spec = {key: value for key, value in spec_of(wanted).items() if key != "limits"}
    changed = differences(spec, live["spec"])
    return check.holds(few(changed), "Ready; requirements, taints and disruption are as configured", AGAIN)


def _room(check: Check, settings: Settings, pool: GpuPool, live: Body) -> Finding:
    try:
        limit = parse_number(dig(live, "spec", "limits", GPU))
        used = parse_number(dig(live, "status", "resources", GPU, default=0))
    except QuantityError as error:
        return check.fails(f"limits of {GPU}: {error}", AGAIN)
    asked = [one for one in demands(settings) if one.model.pool == pool.name]
    need = sum(one.steady for one in asked)
    evidence = f"{used:g} of {limit:g} GPUs used; every replica and spare at once needs {need}"
    found = [f"the limit is {limit:g}, gpuLimit is {pool.gpu_limit}"] if limit != pool.gpu_limit else []
    found += [f"{evidence}: the last {need - limit:g} can never start"] if need > limit else []
    found += [f"{used:g} GPUs of a limit of {limit:g} run"] if used > limit else []
    return check.holds(found, evidence, f"{AGAIN}; or raise gpuLimit and gpuBudget.maxGpus in the stack file")


def _nodes(check: Check, seen: Seen, pool: GpuPool) -> Finding:
    every = seen.every(NODE)
    if isinstance(every, Unread):
        return unread(check, every, "nodes", "")
    own = [one for one in every if labels(one).get(POOL) == pool.name and not is_leaving(one)]
    if not own:
        return check.not_applicable("the pool has no node now")
    found = [text for one in own if (text := _wrong(seen, one))]
    return check.holds(
        few(found),
        f"{counted(len(own), 'node')} with GPUs to give",
        f"kubectl describe nodes -l {POOL}={pool.name}; docs/runbook.md#gpu-node-not-ready",
    )


def _wrong(seen: Seen, node: Body) -> str:
    name, young = node["metadata"]["name"], age(seen, node) < REGISTER_SECONDS
    if condition(node, "Ready") != "True":
        return "" if young else f"{name} is not Ready: {told(node, 'Ready')[1]}"
    if str(dig(node, "status", "allocatable", GPU, default="0")) == "0" and not young:
        return f"{name} has no {GPU} to give: no device plugin runs on it"
    return ""
