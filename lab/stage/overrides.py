"""A stack file with some of its keys replaced: how a rehearsal differs from the stack, in one place."""

from collections.abc import Mapping, Sequence
from typing import Any, cast


def merged(base: Any, over: Any) -> Any:
    """`base` with the values of `over`: mappings key by key, lists of named things by name, all else replaced.

    An override of a list names existing members; one with a new name is appended.
    """
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        left, right = cast(Mapping[str, Any], base), cast(Mapping[str, Any], over)
        return {
            **left,
            **{key: merged(left[key], right[key]) if key in left else right[key] for key in right},
        }
    if _named(base) and _named(over):
        members, changes = cast(Sequence[Mapping[str, Any]], base), cast(Sequence[Mapping[str, Any]], over)
        new: dict[str, Any] = {one["name"]: one for one in changes}
        kept: list[Any] = [merged(one, new.pop(one["name"], {})) for one in members]
        return [*kept, *new.values()]
    return over


def _named(value: Any) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    members = cast(Sequence[Any], value)
    return bool(members) and all(isinstance(one, Mapping) and "name" in one for one in members)
