"""What a resource says, as plain values: proxies unwrapped, unknowns marked, secrets remembered.

The policy SDK hands a rule proxies that are neither `dict` nor `list` and raise on an unknown value. The
SDK turns that into one advisory line and skips the rule (pulumi-policy 1.21.0 `policy.py`). Rules here never
see a proxy: `plain` reads everything once and writes `UNKNOWN` where a value is not known yet.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TypeAlias, cast

from pulumi_policy import Secret
from pulumi_policy.proxy import (
    UNKNOWN_ARCHIVE_VALUE,
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
    UnknownValueError,
)


class Unknown(Enum):
    """The type of `UNKNOWN`: a value that exists but can't be read now."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | Unknown | None"

REDACTED = (
    "[secret]"  # `pulumi policy analyze --file` puts this text in place of any secret, whatever its type
)
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a type marker of the protocol
OUTPUT_SIGNATURE = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_SENTINELS = (
    UNKNOWN_ARCHIVE_VALUE,
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
)
_SENTINEL_LENGTH = len(UNKNOWN_STRING_VALUE)
_DEEPEST = 80  # deeper than any real manifest; keeps hostile nesting away from Python's recursion limit


def plain(value: object, secrets: set[str] | None = None, depth: int = 0, hidden: bool = False) -> Plain:
    """The plain form of any value; never raises.

    Secrets are read through (a rule must judge them) and their texts are added to `secrets`, so that a report
    can leave them out. Anything that is not JSON-like, or nested deeper than 80 levels, is `UNKNOWN`.
    """
    if isinstance(value, str):
        if len(value) >= _SENTINEL_LENGTH and any(mark in value for mark in _SENTINELS):
            return UNKNOWN
        if value == REDACTED:
            return UNKNOWN
        if hidden and secrets is not None:
            secrets.add(value)
        return value
    if value is None or isinstance(value, bool | int | float | Unknown):
        if hidden and secrets is not None and isinstance(value, int | float) and not isinstance(value, bool):
            secrets.add(shown(value))
        return value
    if depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, Secret):
        return plain(value.value, secrets, depth + 1, hidden=True)
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), secrets, depth, hidden)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        items = cast("Sequence[object]", value)
        return [plain(_at(items, index), secrets, depth + 1, hidden) for index in range(len(items))]
    return UNKNOWN


def _mapping(value: Mapping[object, object], secrets: set[str] | None, depth: int, hidden: bool) -> Plain:
    keys = list(value)
    if SIGNATURE in keys:
        signature = _at(value, SIGNATURE)
        if signature == SECRET_SIGNATURE:
            return plain(_at(value, "value"), secrets, depth + 1, hidden=True) if "value" in keys else UNKNOWN
        if signature == OUTPUT_SIGNATURE:
            secret = hidden or _at(value, "secret") is True if "secret" in keys else hidden
            return plain(_at(value, "value"), secrets, depth + 1, secret) if "value" in keys else UNKNOWN
    return {key: plain(_at(value, key), secrets, depth + 1, hidden) for key in keys if isinstance(key, str)}


def _at(container: Mapping[object, object] | Sequence[object], key: object) -> object:
    try:
        return container[key]  # type: ignore[index] - an index for a sequence, a key for a mapping
    except UnknownValueError:
        return UNKNOWN


def dig(value: Plain, *path: str) -> Plain:
    """The value at `path`: `None` when absent, `UNKNOWN` when it, or what should hold it, can't be read."""
    for key in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            return UNKNOWN
        value = value.get(key)
    return value


def items(value: Plain) -> list[Plain]:
    """The entries of a list; none when absent, one `UNKNOWN` when it is not a list that can be read."""
    if value is None:
        return []
    return value if isinstance(value, list) else [UNKNOWN]


def fields(value: Plain) -> dict[str, Plain] | None:
    """The fields of an object; empty when absent, `None` when it is not an object that can be read."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


def walk(value: Plain, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Plain]]:
    """Every value inside `value` with its path, parents before children."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, str(index)))


def shown(value: Plain) -> str:
    """A value for a message: short, on one line."""
    match value:
        case Unknown():
            return "a value not known yet"
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case int():
            return str(value) if value.bit_length() < 200 else "a number of more than 60 digits"
        case dict():
            return f"an object of {len(value)} fields"
        case list():
            return f"[{', '.join(shown(item) for item in value[:6])}{', ...' if len(value) > 6 else ''}]"
        case _:
            flat = " ".join(value[:400].split())
            return f'"{flat[:160]}{"..." if len(flat) > 160 else ""}"'
