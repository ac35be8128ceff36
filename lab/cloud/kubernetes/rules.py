"""What an API server would refuse of any object, where it is cheap to know: names and labels, and two of
one name."""

import re
from collections.abc import Iterator
from typing import cast

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import Properties, has_unknown

_SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_LABEL = re.compile(r"(([A-Za-z0-9][A-Za-z0-9_.-]*)?[A-Za-z0-9])?")
_SHORT_NAMES = ("Service", "Namespace")
"""Kinds whose name is one DNS label of at most 63 characters; RBAC names are free."""


def problems(asked: Asked, account: Account) -> Iterator[Problem]:
    """Problems of one object's metadata."""
    metadata = asked.object("metadata")
    kind = asked.type.rpartition(":")[2]
    if "rbac" not in asked.type:
        yield from _name(metadata.get("name"), 63 if kind in _SHORT_NAMES else 253)
    yield from _labels("metadata.labels", metadata.get("labels"))
    yield from _unique(asked, metadata, account)


def _name(name: object, limit: int) -> Iterator[Problem]:
    if (
        isinstance(name, str)
        and not has_unknown(name)
        and not (_SUBDOMAIN.fullmatch(name) and len(name) <= limit)
    ):
        yield Problem(
            path="metadata.name",
            given=short(name),
            allowed=f"at most {limit} lower-case letters, digits, - and ., first and last a letter or digit",
            fix="rename it",
        )


def _labels(path: str, labels: object) -> Iterator[Problem]:
    if not isinstance(labels, dict):
        return
    for key, value in cast(Properties, labels).items():
        if (
            isinstance(value, str)
            and not has_unknown(value)
            and not (_LABEL.fullmatch(value) and len(value) <= 63)
        ):
            yield Problem(
                path=f"{path}.{key}",
                given=short(value),
                allowed="at most 63 letters, digits, -, _ and ., first and last a letter or digit",
                fix="use another value, or an annotation",
            )


def _unique(asked: Asked, metadata: Properties, account: Account) -> Iterator[Problem]:
    name, namespace = metadata.get("name"), metadata.get("namespace", "")
    if not name or has_unknown([name, namespace]):
        return
    owner = account.claim((asked.type, namespace, name), asked.urn)
    if owner:
        yield Problem(
            path="metadata.name",
            given=f"{short(name)}, which {owner.rpartition('::')[2]} has",
            allowed="a name that no other object of the kind has in the namespace",
            fix="rename one of the two",
        )
