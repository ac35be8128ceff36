"""Plain Python values in and out of the protobuf Struct that Pulumi's gRPC interfaces carry.

The signatures below are fixed by Pulumi's wire format (sdk/go/common/resource/properties.go:
UnknownStringValue, SigKey, SecretSig, ResourceReferenceSig, OutputValueSig).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from google.protobuf import struct_pb2

type_ = type

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""A value that only the cloud will know: what a preview carries in place of it."""

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - marks secrets, is none
REFERENCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"

Properties = dict[str, Any]


def to_python(struct: struct_pb2.Struct) -> Properties:
    """The struct as a dict; whole numbers become int, so that ids and ports print without a fraction."""
    return {key: _value(value) for key, value in struct.fields.items()}


def _value(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            return value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return to_python(value.struct_value)
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case _:
            return None


def to_struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """The dict as a struct. Only what JSON can carry is accepted: anything else is a TypeError."""
    struct = struct_pb2.Struct()
    for key, value in properties.items():
        _fill(struct.fields[key], value)
    return struct


def _fill(target: struct_pb2.Value, value: object) -> None:
    if value is None:
        target.null_value = struct_pb2.NULL_VALUE
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, int | float):
        target.number_value = value
    elif isinstance(value, Mapping):
        target.struct_value.SetInParent()
        for key, item in cast(Mapping[str, object], value).items():
            _fill(target.struct_value.fields[key], item)
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        for item in cast(list[object], value):
            _fill(target.list_value.values.add(), item)
    else:
        raise TypeError(
            f"{type_(value).__name__} cannot travel in a Pulumi property; use str, number, bool, list, dict"
        )


def has_unknown(value: object) -> bool:
    """Whether any part of the value is only known after the cloud has answered."""
    if isinstance(value, str):
        return UNKNOWN in value
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in cast(Mapping[str, object], value).values())
    if isinstance(value, list | tuple):
        return any(has_unknown(item) for item in cast(list[object], value))
    return False


def bare(value: Any) -> Any:
    """The value without secret and output wrappers; an output that is not known yet becomes UNKNOWN."""
    if isinstance(value, Mapping):
        wrapped = cast(Mapping[str, Any], value)
        match wrapped.get(SIGNATURE):
            case sig if sig == SECRET:
                return bare(wrapped.get("value"))
            case sig if sig == OUTPUT:
                return bare(wrapped["value"]) if "value" in wrapped else UNKNOWN
            case _:
                return {key: bare(item) for key, item in wrapped.items()}
    if isinstance(value, list | tuple):
        return [bare(item) for item in cast(list[Any], value)]
    return value


def dependencies(value: object) -> Iterator[str]:
    """URNs named by the output values and resource references inside the value."""
    if isinstance(value, Mapping):
        wrapped = cast(Mapping[str, Any], value)
        if wrapped.get(SIGNATURE) == OUTPUT:
            yield from cast(list[str], wrapped.get("dependencies", []))
        elif wrapped.get(SIGNATURE) == REFERENCE:
            yield cast(str, wrapped["urn"])
        for item in wrapped.values():
            yield from dependencies(item)
    elif isinstance(value, list | tuple):
        for item in cast(list[object], value):
            yield from dependencies(item)


def reference(urn: str, resource_id: str | None = None, version: str = "") -> Properties:
    """A reference to a resource that the SDK turns back into the resource; no id for a component."""
    value: Properties = {SIGNATURE: REFERENCE, "urn": urn, "packageVersion": version}
    if resource_id is not None:
        value["id"] = resource_id
    return value
