"""A replica that leaves has the time to end what it has in flight."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.doctor.checks.there import AGAIN, looked_up
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import DEPLOYMENT
from lab.doctor.seen import Body, Seen, Unread, dig
from specs import router, serving
from specs.drain import LEAST_MARGIN_SECONDS, drain_seconds
from specs.engine_pod import pre_stop_seconds
from specs.settings.model import Model
from specs.settings.stack import Settings

GRACE = 30
"""Kubernetes' default."""
SHUTDOWN = "--shutdown-timeout"


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Grace against preStop and what comes after it, of engines and routers."""
    check = Check("drain:engine", model.name)
    live = looked_up(check, seen, DEPLOYMENT, serving.deployment(settings, model))
    if isinstance(live, Finding):
        yield live
    else:
        spec = dig(live, "spec", "template", "spec", default={})
        after = _shutdown(spec, model)
        yield _judge(check, seen, model, "engine", spec, after, LEAST_MARGIN_SECONDS, pre_stop_seconds(model))
    check = Check("drain:router", model.name)
    live = looked_up(check, seen, DEPLOYMENT, router.deployment(settings, model))
    if isinstance(live, Finding):
        yield live
    else:
        spec = dig(live, "spec", "template", "spec", default={})
        after, wait = router.drain_seconds(settings, model), router.pre_stop_seconds(model)
        yield _judge(check, seen, model, "router", spec, after, 0, wait)


def _shutdown(spec: Mapping[str, Any], model: Model) -> int:
    """The engine's own time for requests in flight; an image without it relies on preStop, checked by that."""
    args = [str(one) for one in _container(spec).get("args") or ()]
    found = [args[at + 1] for at, one in enumerate(args[:-1]) if one == SHUTDOWN]
    return int(found[-1]) if found and found[-1].isdigit() else drain_seconds(model) - pre_stop_seconds(model)


def _container(spec: Mapping[str, Any]) -> Body:
    containers: Sequence[Body] = spec.get("containers") or ({},)
    return containers[0]


def _wait(spec: Mapping[str, Any]) -> int:
    return int(dig(_container(spec), "lifecycle", "preStop", "sleep", "seconds", default=0))


def _judge(
    check: Check,
    seen: Seen,
    model: Model,
    part: str,
    spec: Mapping[str, Any],
    after: int,
    margin: int,
    pre_stop: int,
) -> Finding:
    grace, wait = _grace(spec), _wait(spec)
    least = wait + after + margin
    found: list[str] = []
    if wait < pre_stop:
        found.append(f"preStop waits {wait} s, wanted {pre_stop}: callers still know the pod when it ends")
    if grace < least:
        needs = f"preStop {wait} s + {after} s for requests" + (f" + {margin} s to exit" if margin else "")
        found.append(f"terminationGracePeriodSeconds is {grace}, less than {needs} = {least}")
    pods = seen.pods(model, part)
    short = [] if isinstance(pods, Unread) else [pod for pod in pods if _grace(dig(pod, "spec")) < least]
    if short and grace >= least:
        found.append(f"{len(short)} pods of an earlier template have less than {least} s")
    mend = f"kubectl -n {model.namespace} rollout status deployment" if short and grace >= least else AGAIN
    return check.holds(found, f"grace {grace} s, {least} needed: preStop {wait}, requests {after}", mend)


def _grace(spec: Mapping[str, Any]) -> int:
    return int(spec.get("terminationGracePeriodSeconds", GRACE))
