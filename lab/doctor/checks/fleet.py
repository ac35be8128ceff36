"""The pods of a model that are well, and since when."""

from datetime import datetime
from typing import Any

from lab.doctor.seen import Body, Seen, Unread, dig
from lab.scenario.kinds import conditions, is_ready
from specs.settings.model import Model


def ready(seen: Seen, model: Model, part: str, seconds: float = 0.0) -> list[Body] | Unread:
    """The pods of a part that have been ready for so long."""
    found = seen.pods(model, part)
    if isinstance(found, Unread):
        return found
    return [pod for pod in found if is_ready(pod) and seen.at - _since(pod, "Ready") >= seconds]


def age(seen: Seen, body: Body) -> float:
    """Seconds since an object was created."""
    return seen.at - moment(dig(body, "metadata", "creationTimestamp"))


def moment(text: Any) -> float:
    """A time as Kubernetes writes it; 0 where there is none."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0


def _since(pod: Body, kind: str) -> float:
    return next(
        (moment(one.get("lastTransitionTime")) for one in conditions(pod) if one["type"] == kind), 0.0
    )
