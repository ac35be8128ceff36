"""The HPA that KEDA makes: KEDA's own, able to act, with the configured range, and alone on its Deployment."""

from collections.abc import Iterator
from typing import Any

from lab.doctor.checks.there import spec_of, unread
from lab.doctor.differences import differences, few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import DEPLOYMENT, HPA, SCALED_OBJECT
from lab.doctor.seen import Body, Seen, Unread, dig, names, told
from lab.watch.cluster import OFF_AT_ZERO
from specs.scaling import scaled_object
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Four checks, or the one that says why there are none."""
    spec = spec_of(scaled_object(settings, model))
    config: dict[str, Any] = spec["advanced"]["horizontalPodAutoscalerConfig"]
    check = Check("hpa", model.name)
    found = seen.every(HPA, model.namespace)
    if isinstance(found, Unread):
        yield unread(check, found, "HPAs", "use a cluster with autoscaling/v2")
        return
    yield _alone(Check("hpa-alone", model.name), seen, found, spec, config["name"], model)
    live = next((one for one in found if one["metadata"]["name"] == config["name"]), None)
    if live is None:
        yield check.fails(
            f"there is no HPA {config['name']}: KEDA has not made it, or took it away while paused",
            f"mend the ScaledObject: kubectl -n {model.namespace} describe scaledobject {model.name}",
        )
        return
    yield _owned(check, live, model)
    yield _active(Check("hpa-active", model.name), seen, live, model)
    yield _range(Check("hpa-spec", model.name), live, spec, config)


def _owned(check: Check, live: Body, model: Model) -> Finding:
    owners = [
        f"{one.get('kind')} {one.get('name')}" for one in dig(live, "metadata", "ownerReferences", default=())
    ]
    if f"{SCALED_OBJECT.name} {model.name}" in owners:
        status = dig(live, "status", default={})
        return check.passes(
            f"KEDA's own; {status.get('currentReplicas', 0)} replicas, {status.get('desiredReplicas', 0)} desired"
        )
    return check.fails(
        f"its owner is {', '.join(owners) or 'nobody'}, not the ScaledObject",
        f"kubectl -n {model.namespace} delete hpa {live['metadata']['name']}: KEDA makes its own",
    )


def _active(check: Check, seen: Seen, live: Body, model: Model) -> Finding:
    states = {kind: told(live, kind) for kind in ("AbleToScale", "ScalingActive")}
    if not any(status for status, _ in states.values()):
        return check.unknown(
            "it has no conditions yet: the HPA controller has not looked", "ask again in 15 s"
        )
    status, words = states["ScalingActive"]
    if status == "False" and words.startswith(OFF_AT_ZERO) and model.replicas.min == 0:
        if _replicas(seen, model) == 0:
            return check.passes(f"off at zero replicas ({OFF_AT_ZERO}), where KEDA alone acts")
        if not dig(live, "status", "currentReplicas", default=0):
            return check.unknown("it has not looked since the model woke", "ask again in 15 s")
    bad = [f"{kind} is {status}: {words}" for kind, (status, words) in states.items() if status != "True"]
    return check.holds(
        bad,
        "; ".join(f"{kind} ({words.partition(':')[0]})" for kind, (_, words) in states.items()),
        f"kubectl -n {model.namespace} describe hpa {live['metadata']['name']}",
    )


def _replicas(seen: Seen, model: Model) -> int | None:
    """The Deployment's own; None where it is not known."""
    found = seen.one(DEPLOYMENT, model.name, model.namespace)
    return None if isinstance(found, Unread) else dig(found, "spec", "replicas")


def _range(check: Check, live: Body, spec: Any, config: dict[str, Any]) -> Finding:
    # An HPA can't go below 1; the last step is KEDA's.
    wanted = {
        "minReplicas": max(1, spec["minReplicaCount"]),
        "maxReplicas": spec["maxReplicaCount"],
        "behavior": config["behavior"],
    }
    found = differences(wanted, live["spec"])
    metrics, triggers = len(dig(live, "spec", "metrics", default=())), len(spec["triggers"])
    if metrics != triggers:
        found.append(f"it reads {metrics} metrics, wanted {triggers}")
    return check.holds(
        few(found),
        f"{wanted['minReplicas']} to {wanted['maxReplicas']} replicas, {metrics} metrics",
        "KEDA writes it from the ScaledObject: pulumi up --refresh; if that is well, restart keda-operator",
    )


def _alone(check: Check, seen: Seen, hpas: Any, spec: Any, name: str, model: Model) -> Finding:
    target = spec["scaleTargetRef"]["name"]
    others = [
        one
        for one in hpas
        if dig(one, "spec", "scaleTargetRef", "name") == target and one["metadata"]["name"] != name
    ]
    objects = seen.every(SCALED_OBJECT, model.namespace)
    twins = [
        one
        for one in (() if isinstance(objects, Unread) else objects)
        if dig(one, "spec", "scaleTargetRef", "name") == target and one["metadata"]["name"] != model.name
    ]
    found = [f"HPA {names(others)} scales the same Deployment"] if others else []
    found += [f"ScaledObject {names(twins)} scales the same Deployment"] if twins else []
    kind = "hpa" if others else "scaledobject"
    return check.holds(
        found,
        f"nothing else scales Deployment {target}",
        f"kubectl -n {model.namespace} delete {kind} {names(others or twins)}",
    )
