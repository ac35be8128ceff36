"""The ScaledObject: there, ready, not paused, not in fallback, and as the specs would deploy it (KEDA 2.21)."""

from collections.abc import Iterator
from typing import Any, Final

from lab.doctor.checks.there import AGAIN, looked_up, spec_of
from lab.doctor.differences import differences, few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import SCALED_OBJECT
from lab.doctor.seen import Body, Seen, dig, told
from lab.watch.words import counted
from specs.scaling import FALLBACK_FAILURES, scaled_object
from specs.settings.model import Model
from specs.settings.stack import Settings

PAUSED: Final = "autoscaling.keda.sh/paused"
"""The four annotations begin with it (apis/keda/v1alpha1/scaledobject_types.go)."""


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Five checks, or the one that says why there are none."""
    wanted = scaled_object(settings, model)
    check = Check("scaled-object", model.name)
    live = looked_up(check, seen, SCALED_OBJECT, wanted)
    if isinstance(live, Finding):
        yield live
        return
    yield _ready(check, live, model)
    yield _paused(Check("not-paused", model.name), live, model)
    yield _fallback(Check("fallback", model.name), live, model)
    spec = {key: value for key, value in spec_of(wanted).items() if key != "triggers"}
    found = differences(spec, live["spec"])
    yield Check("scaled-object-spec", model.name).holds(
        few(found), f"range, fallback and behaviour are as configured: {_range(live)}", AGAIN
    )
    yield _triggers(Check("triggers-spec", model.name), spec_of(wanted)["triggers"], live)


def _range(live: Body) -> str:
    return f"{dig(live, 'spec', 'minReplicaCount')} to {dig(live, 'spec', 'maxReplicaCount')} replicas"


def _ready(check: Check, live: Body, model: Model) -> Finding:
    status, words = told(live, "Ready")
    if status == "True":
        return check.passes(f"Ready: {words}")
    return check.fails(
        f"Ready is {status or 'not set'}: {words or 'KEDA has not looked at it'}",
        f"kubectl -n {model.namespace} describe scaledobject {model.name}; the operator's log says more",
    )


def _paused(check: Check, live: Body, model: Model) -> Finding:
    annotations = dig(live, "metadata", "annotations", default={})
    found = {key: value for key, value in annotations.items() if key.startswith(PAUSED)}
    # Any paused-replicas pauses; the others are booleans.
    on = [key for key, value in found.items() if key == f"{PAUSED}-replicas" or str(value).lower() != "false"]
    if not on:
        return check.passes("no annotation pauses it")
    taken = " ".join(f"{key}-" for key in on)
    return check.fails(
        ", ".join(f"{key}: {found[key]}" for key in on),
        f"kubectl -n {model.namespace} annotate scaledobject {model.name} {taken}",
    )


def _fallback(check: Check, live: Body, model: Model) -> Finding:
    """One failed reading is a restart of Prometheus; `hpa-reads` tells whether it lasts."""
    status, words = told(live, "Fallback")
    health: dict[str, Any] = dig(live, "status", "health", default={})
    failed = {metric: int(one.get("numberOfFailures") or 0) for metric, one in health.items()}
    often = [
        f"{metric} failed {counted(times, 'time')} in a row"
        for metric, times in failed.items()
        if times >= FALLBACK_FAILURES
    ]
    if status == "True" or often:
        active = [f"the fallback is active: {words}"] if status == "True" else []
        return check.fails(
            "; ".join(active + few(often)),
            f"mend the trigger that fails; kubectl -n {model.namespace} describe scaledobject {model.name}",
        )
    most = max(failed.values(), default=0)
    lately = f"a trigger failed {counted(most, 'time')} just now" if most else "no trigger fails"
    return check.passes(f"not active, {lately}")


def _triggers(check: Check, wanted: list[dict[str, Any]], live: Body) -> Finding:
    have: list[Body] = dig(live, "spec", "triggers", default=[])
    ours, theirs = [one["name"] for one in wanted], [str(one.get("name")) for one in have]
    found = [f"{name} is missing" for name in ours if name not in theirs]
    found += [f"{name} is not the stack's" for name in theirs if name not in ours]
    for one in wanted:
        other = next((two for two in have if two.get("name") == one["name"]), None)
        found += differences(one, other, one["name"]) if other is not None else []
    return check.holds(few(found), f"{len(ours)} as configured: {', '.join(ours)}", AGAIN)
