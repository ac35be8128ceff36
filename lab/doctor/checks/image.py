"""Where a warm tier is claimed, the image lies on the nodes."""

from collections.abc import Iterator

from lab.doctor.checks.fleet import age
from lab.doctor.checks.there import AGAIN, looked_up
from lab.doctor.differences import few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import DAEMON_SET, NODE
from lab.doctor.seen import Body, Seen, Unread, dig, labels
from lab.watch.cluster import POOL
from specs.patience import HOLD_SAFETY
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import tiers
from specs.warm import image_puller

MOST_IMAGES = 50
"""A kubelet tells its largest so many (nodeStatusMaxImages)."""


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """The puller is there, and every node that had the time has the image."""
    check = Check("image-cached", model.name)
    puller = image_puller(settings, model)
    if puller is None:
        yield check.not_applicable("scaling.warmSpares is 0: no warm tier is claimed")
        return
    live = looked_up(check, seen, DAEMON_SET, puller)
    if isinstance(live, Finding):
        yield live
        return
    every = seen.every(NODE)
    if isinstance(every, Unread):
        yield check.unknown(f"nodes could not be read: {every.reason}")
        return
    pull = HOLD_SAFETY * tiers(settings, model)[0].image
    own = [one for one in every if labels(one).get(POOL) == model.pool]
    old = [one for one in own if age(seen, one) > pull]
    if not old:
        yield check.unknown(f"no node of the pool is older than a pull ({pull:.0f} s)")
    elif not any(dig(one, "status", "images") for one in old):
        yield check.unknown("the nodes tell no images")
    else:
        yield _judge(check, model, old)


def _judge(check: Check, model: Model, nodes: list[Body]) -> Finding:
    absent = [one["metadata"]["name"] for one in nodes if not _has(one, model.image)]
    full = [one for one in nodes if len(dig(one, "status", "images", default=())) >= MOST_IMAGES]
    if absent and full:
        return check.unknown(f"{', '.join(few(absent))} tell their {MOST_IMAGES} largest images only")
    return check.holds(
        [f"{', '.join(few(absent))}: without {model.image}"] if absent else [],
        f"{len(nodes)} of {len(nodes)} nodes have {model.image}",
        f"kubectl -n {model.namespace} get daemonset,pods; {AGAIN}",
    )


def _has(node: Body, image: str) -> bool:
    """By tag or by digest, whatever registry prefix the runtime adds."""
    told = [str(name) for one in dig(node, "status", "images", default=()) for name in one.get("names") or ()]
    digest = image.partition("@")[2]
    plain = image.partition("@")[0]
    return any(
        name.endswith(f"/{plain}") or name == plain or (digest and name.endswith(digest)) for name in told
    )
