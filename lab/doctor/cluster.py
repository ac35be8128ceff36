"""What the API server is asked. A read that fails is an Unread with its reason."""

import ssl
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from lightkube import ApiError, Client

from lab.control import kubernetes
from lab.control.parts.keda import EXTERNAL_METRICS
from lab.doctor.kinds import EVENT, Kind
from lab.doctor.seen import Body, Unread, dig
from lab.watch.prometheus import reason
from specs.quantity import QuantityError, parse_number

ABSENT, DENIED, UNKNOWN = 404, 403, 401


def listed(
    client: Client,
    kind: Kind,
    namespace: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    fields: Mapping[str, str] | None = None,
) -> list[Body] | Unread:
    """The objects of a kind; namespace ``*`` asks for all namespaces."""
    chosen: dict[str, Any] = {"namespace": namespace} if kind.namespaced else {}
    return _list(client, kind.resource, labels=labels, fields=fields, **chosen)


def events(client: Client, pod: Body) -> list[Body] | Unread:
    """What was told of a pod."""
    uid = {"involvedObject.uid": str(dig(pod, "metadata", "uid", default=""))}
    return listed(client, EVENT, pod["metadata"]["namespace"], fields=uid)


def external(client: Client, namespace: str, scaled_object: str, metric: str) -> float | Unread:
    """A trigger's value as the HPA reads it: through the aggregated API, from KEDA's adapter and operator.

    With an active fallback KEDA gives the fallback's value, so the ScaledObject's health is to be read beside it.
    """
    group, version = EXTERNAL_METRICS.split("/")
    kind = kubernetes.resource(group, version, metric, metric)
    found = _list(client, kind, namespace=namespace, labels={"scaledobject.keda.sh/name": scaled_object})
    if isinstance(found, Unread):
        return found
    if len(found) != 1:
        return Unread(f"{len(found)} values instead of one", "refused")
    try:
        return parse_number(found[0].get("value"))
    except QuantityError as error:
        return Unread(f"{found[0].get('value')!r} is no value: {error}", "refused")


def _list(client: Client, kind: Any, **asked: Any) -> list[Body] | Unread:
    try:
        found: Sequence[Body] = list(client.list(kind, **asked))
        return list(found)
    except ApiError as error:
        return _told(error)
    except (httpx2.HTTPError, ssl.SSLError, OSError, ValueError, LookupError, TypeError) as error:
        return Unread(reason(error))


def _told(error: ApiError) -> Unread:
    code, message = error.status.code, error.status.message or f"HTTP {error.status.code}"
    if code == ABSENT:
        return Unread("the API server does not know the kind", "absent")
    if code == DENIED:
        return Unread(f"not permitted: {message}", "denied")
    if code == UNKNOWN:
        return Unread("who asks is not known there")
    return Unread(message, "refused")
