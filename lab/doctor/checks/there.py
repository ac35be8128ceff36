"""What a check says where its object is missing or could not be read."""

from collections.abc import Mapping
from typing import Any, cast

from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import Kind
from lab.doctor.seen import Body, Seen, Unread

AGAIN = "pulumi up --refresh"
"""Puts back what was changed or deleted by hand."""


def looked_up(
    check: Check, seen: Seen, kind: Kind, wanted: object, mend: str = AGAIN
) -> tuple[Body | None, Finding | None]:
    """The live object that a body of the specs names, or the finding that tells why it can't be judged."""
    name, namespace = named(wanted)
    found = seen.one(kind, name, namespace if kind.namespaced else "")
    if isinstance(found, Unread):
        return None, unread(check, found, f"{kind.name}s", mend)
    if found is None:
        where = f" in {namespace}" if kind.namespaced else ""
        return None, check.fails(f"there is no {kind.name} {name}{where}", mend)
    return found, None


def unread(check: Check, found: Unread, what: str, mend: str) -> Finding:
    """Unknown; a kind that the server does not know can't have objects, which is a failure."""
    if found.why == "absent":
        return check.fails(f"{what}: {found.reason}", mend)
    return check.unknown(f"{what} could not be read: {found.reason}")


def named(body: object) -> tuple[str, str]:
    """Name and namespace of a body."""
    metadata = cast(Mapping[str, Any], body)["metadata"]
    return str(metadata["name"]), str(metadata.get("namespace", ""))


def spec_of(body: object) -> Mapping[str, Any]:
    """The spec of a body."""
    return cast(Mapping[str, Any], cast(Mapping[str, Any], body)["spec"])
