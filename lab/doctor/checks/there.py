"""What a check says where its object is missing or could not be read."""

from collections.abc import Mapping
from typing import Any, cast

from lab.doctor.differences import differences, few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import Kind
from lab.doctor.seen import Body, Seen, Unread

AGAIN = "pulumi up --refresh"
"""Puts back what was changed or deleted by hand."""


def looked_up(check: Check, seen: Seen, kind: Kind, wanted: object) -> Body | Finding:
    """The live object that a body of the specs names, or the finding that tells why it can't be judged."""
    name, namespace = named(wanted)
    found = seen.one(kind, name, namespace if kind.namespaced else "")
    if isinstance(found, Unread):
        return unread(check, found, f"{kind.name}s", AGAIN)
    if found is None:
        where = f" in {namespace}" if kind.namespaced else ""
        return check.fails(f"there is no {kind.name} {name}{where}", AGAIN)
    return found


def unlike(check: Check, seen: Seen, kind: Kind, wanted: object) -> Finding | None:
    """What is wrong with an object that is to be as the specs have it; None where it is."""
    live = looked_up(check, seen, kind, wanted)
    if isinstance(live, Finding):
        return live
    changed = differences(spec_of(wanted), live["spec"])
    return (
        check.fails(f"the {kind.name} is not as configured: {'; '.join(few(changed))}", AGAIN)
        if changed
        else None
    )


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
