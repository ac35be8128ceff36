"""Values to stand in for one that could not be read: the ends of what is allowed.

A check on meaning that says the same whichever end stands in does not rest on the value; one that does not is a
guess about it, and the user is told of the value itself already.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, cast

from specs.settings.stack import Settings

End = Literal["least", "most"]
Location = tuple[int | str, ...]
_UNBOUNDED: Final = 1_000_000
_SMALLEST: Final = 0.001
_Schema = Mapping[str, object]


def stood_in(raw: Mapping[str, object], locations: Sequence[Location], end: End) -> dict[str, object]:
    """`raw` with the least or the most allowed at each location; one of another kind than numbers, choices and
    sections of them keeps its default."""
    result = copy.deepcopy(dict(raw))
    for location in locations:
        owner: object = result
        for part in location[:-1]:
            owner = cast(dict[object, object], owner)[part]
        value = _value(_at(location), end)
        if value is not None:
            cast(dict[object, object], owner)[location[-1]] = value
    return result


@cache
def _root() -> _Schema:
    return Settings.model_json_schema(by_alias=True)


def _resolved(schema: _Schema) -> _Schema:
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    definitions = cast(Mapping[str, _Schema], _root()["$defs"])
    return definitions[reference.rpartition("/")[2]]


def _options(schema: _Schema) -> list[_Schema]:
    resolved = _resolved(schema)
    found = cast(list[_Schema], resolved.get("anyOf", [resolved]))
    return [_resolved(option) for option in found]


def _at(location: Location) -> _Schema:
    schema: _Schema = _root()
    for part in location:
        for option in _options(schema):
            below = option.get("items") if isinstance(part, int) else None
            properties = cast(Mapping[str, _Schema], option.get("properties", {}))
            if isinstance(part, str):
                below = properties.get(part)
            if below is not None:
                schema = cast(_Schema, below)
                break
        else:
            return {}
    return schema


def _value(schema: _Schema, end: End) -> object:
    return next((value for option in _options(schema) if (value := _of(option, end)) is not None), None)


def _of(schema: _Schema, end: End) -> object:
    match schema.get("type"):
        case "integer" | "number":
            return _bound(schema, end)
        case "boolean":
            return end == "most"
        case "object" if "properties" in schema:
            properties = cast(Mapping[str, _Schema], schema["properties"])
            values = {key: _value(below, end) for key, below in properties.items()}
            return {key: value for key, value in values.items() if value is not None}
        case _:
            choices = cast(list[object], schema.get("enum", []))
            return choices[-1 if end == "most" else 0] if choices else None


def _bound(schema: _Schema, end: End) -> object:
    # Behind a validator of ours pydantic writes the bounds under its own names.
    if end == "most":
        return _first(schema, "maximum", "le", "lt") or _UNBOUNDED
    above = _first(schema, "exclusiveMinimum", "gt")
    return _first(schema, "minimum", "ge") or 0 if above is None else above + _SMALLEST


def _first(schema: _Schema, *keys: str) -> float | None:
    return next((cast(float, schema[key]) for key in keys if key in schema), None)
