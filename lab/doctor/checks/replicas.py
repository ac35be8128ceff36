"""The Deployment's replicas are the autoscaler's alone, its pods are up, and the router stands before them."""

from collections.abc import Iterator

from lab.doctor.checks.there import AGAIN, looked_up
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import DEPLOYMENT
from lab.doctor.seen import Body, Seen, dig, told
from specs import router, serving
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """The owner of the replicas, the engines, the router."""
    owner, engines = Check("replicas-owner", model.name), Check("deployment", model.name)
    live = looked_up(engines, seen, DEPLOYMENT, serving.deployment(settings, model))
    if isinstance(live, Finding):
        yield live
    else:
        yield _owner(owner, live, model)
        yield _engines(engines, live, model)
    check = Check("router", model.name)
    live = looked_up(check, seen, DEPLOYMENT, router.deployment(settings, model))
    yield live if isinstance(live, Finding) else _router(check, live, settings, model)


def _owner(check: Check, live: Body, model: Model) -> Finding:
    """The autoscalers write through the subresource scale; whoever owns the field itself resets the fleet whenever it
    applies (keda issue 5573)."""
    entries = dig(live, "metadata", "managedFields", default=[])
    if not entries:
        return check.unknown("the API server tells no managers of its fields")
    owners = [one for one in entries if "f:replicas" in dig(one, "fieldsV1", "f:spec", default={})]
    others = sorted({str(one.get("manager")) for one in owners if one.get("subresource") != "scale"})
    if others:
        return check.fails(
            f"{', '.join(others)} owns spec.replicas and resets the fleet whenever it applies",
            f"leave replicas out of what {others[0]} applies to Deployment {model.namespace}/{model.name}",
        )
    scalers = ", ".join(sorted({str(one.get("manager")) for one in owners}))
    by = f"written through scale by {scalers}" if scalers else "owned by no manager"
    return check.passes(f"spec.replicas is {dig(live, 'spec', 'replicas')}, {by}")


def _engines(check: Check, live: Body, model: Model) -> Finding:
    wanted, up = dig(live, "spec", "replicas", default=1), dig(live, "status", "readyReplicas", default=0)
    if dig(live, "spec", "paused", default=False):
        return check.fails(
            "its rollout is paused", f"kubectl -n {model.namespace} rollout resume deployment {model.name}"
        )
    status, words = told(live, "Progressing")
    if status == "False":
        return check.fails(
            f"the rollout makes no progress: {words}; {up} of {wanted} ready", "see pending; docs/runbook.md"
        )
    if wanted < model.replicas.min:
        return check.fails(
            f"{wanted} replicas, replicas.min is {model.replicas.min}", "see hpa-active and scaled-object"
        )
    return check.passes(f"{up} of {wanted} replicas ready")


def _router(check: Check, live: Body, settings: Settings, model: Model) -> Finding:
    wanted, up = settings.platform.router.replicas, dig(live, "status", "readyReplicas", default=0)
    asked = dig(live, "spec", "replicas", default=1)
    name = router.name(model)
    if asked != wanted:
        return check.fails(f"{asked} replicas, platform.router.replicas is {wanted}", AGAIN)
    if up < wanted:
        return check.fails(
            f"{up} of {wanted} ready", f"kubectl -n {model.namespace} describe deployment {name}"
        )
    return check.passes(f"{up} of {wanted} ready")
