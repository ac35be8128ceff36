"""Which inputs changed between the recorded state and the program, and whether the change replaces the
resource."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

Same = Callable[[object, object], bool]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One changed leaf. `path` is Pulumi's property path; `replaces` says that the cloud can't change it in
    place."""

    path: str
    kind: Literal["add", "delete", "update"]
    replaces: bool


def compare(
    old: Mapping[str, Any], new: Mapping[str, Any], forced: frozenset[str], same: Same
) -> list[Change]:
    """Changed leaves in the order of their paths.

    `forced` holds dotted property names without list indexes; `-name` is a property whose removal alone
    replaces.
    """
    return [
        Change(path=path, kind=kind, replaces=_is_forced(plain, kind, forced))
        for path, plain, kind in _walk("", "", old, new, same)
    ]


def _is_forced(plain: str, kind: str, forced: frozenset[str]) -> bool:
    parts = plain.split(".")
    roots = {".".join(parts[: end + 1]) for end in range(len(parts))}
    return bool(roots & forced) or (kind == "delete" and any(f"-{root}" in forced for root in roots))


def _walk(
    path: str, plain: str, old: object, new: object, same: Same
) -> Iterator[tuple[str, str, Literal["add", "delete", "update"]]]:
    before, after = _object(old), _object(new)
    if before is not None and after is not None and (before or after):
        yield from _walk_keys(path, plain, before, after, same)
        return
    was, now = _list(old), _list(new)
    if was is not None and now is not None:
        yield from _walk_items(path, plain, was, now, same)
        return
    if old == new or (old is not None and new is not None and same(old, new)):
        return
    yield path, plain, "add" if old is None else "delete" if new is None else "update"


def _object(value: object) -> Mapping[str, object] | None:
    """The value as an object; an absent one is an empty object, so that what is inside counts as added."""
    if value is None:
        return {}
    return cast(Mapping[str, object], value) if isinstance(value, Mapping) else None


def _list(value: object) -> list[object] | None:
    return cast(list[object], value) if isinstance(value, list) else None


def _walk_keys(
    path: str, plain: str, old: Mapping[str, object], new: Mapping[str, object], same: Same
) -> Iterator[tuple[str, str, Literal["add", "delete", "update"]]]:
    for key in sorted(old.keys() | new.keys()):
        step = f".{key}" if path else key
        if not key.replace("_", "").replace("-", "").isalnum():
            step = f"[{json.dumps(key)}]"
        joined = f"{plain}.{key}" if plain else key
        yield from _walk(path + step, joined, old.get(key), new.get(key), same)


def _walk_items(
    path: str, plain: str, old: list[object], new: list[object], same: Same
) -> Iterator[tuple[str, str, Literal["add", "delete", "update"]]]:
    if same(old, new):
        return
    for index in range(max(len(old), len(new))):
        before = old[index] if index < len(old) else None
        after = new[index] if index < len(new) else None
        yield from _walk(f"{path}[{index}]", plain, before, after, same)
