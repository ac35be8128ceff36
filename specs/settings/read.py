"""The one reader of configuration: raw values in, Settings or every problem out."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from specs.problems import Problem, SettingsError, printable, shown
from specs.settings.stack import Settings
from specs.settings.stand_ins import Location, stood_in

NAMESPACE = "headroom"
_TOP = ("network", "cluster", "platform", "weights", "gpuPools", "gpuBudget", "models", "deployments")
_TYPE_WORDS = {
    "string_type": "text (quote it if it looks like a number or yes/no)",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping of keys",
    "finite_number": "a finite number",
}


def read(config: Mapping[str, object]) -> Settings:
    """Turn raw stack configuration (`headroom:models` -> value, `aws:region` -> text) into Settings.

    Raises SettingsError with every shape problem. Keys of other namespaces are left alone.
    """
    settings, problems = read_leniently(config)
    if settings is None or problems:
        raise SettingsError(problems)
    return settings


def read_leniently(config: Mapping[str, object]) -> tuple[Settings | None, list[Problem]]:
    """Settings as far as they can be read, and every shape problem.

    A bad value that has a default is reported and replaced by it, so that the checks on meaning can still
    run; with a required value bad or missing there are no Settings.
    """
    reading = readings(config)
    return reading.settings, reading.problems


@dataclass(frozen=True)
class Readings:
    """`settings` with the default of each bad value; `others` with other values in those places; `replaced` are
    the places' paths."""

    settings: Settings | None
    problems: list[Problem]
    others: tuple[Settings, ...] = ()
    replaced: tuple[str, ...] = ()


def readings(config: Mapping[str, object]) -> Readings:
    """What `read_leniently` reads, and what else the bad values could have been meant to be."""
    raw, problems = _collect(config)
    replaced: list[Location] = []
    for _ in range(50):
        try:
            settings = Settings.model_validate_json(json.dumps(raw, default=str))
        except ValidationError as error:
            found = error.errors(include_url=False)
        else:
            paths = tuple(path_of(location) for location in replaced)
            return Readings(settings, _merged(problems), tuple(_others(raw, replaced)), paths)
        problems += [_problem(detail, raw) for detail in found]
        pruned = [_prune(raw, detail) for detail in found]
        if None in pruned:
            break
        replaced += [location for location in pruned if location]
    return Readings(None, _merged(problems))


def _others(raw: Mapping[str, object], replaced: list[Location]) -> Iterator[Settings]:
    for end in ("least", "most") if replaced else ():
        with contextlib.suppress(ValidationError):
            yield Settings.model_validate_json(json.dumps(stood_in(raw, replaced, end), default=str))


def _merged(problems: list[Problem]) -> list[Problem]:
    """One problem a path: a value that fits no member of a union is told once, with all it could be."""
    merged: dict[tuple[str, str], Problem] = {}
    for problem in sorted(set(problems)):
        first = merged.setdefault((problem.path, problem.given), problem)
        if first.allowed != problem.allowed:
            merged[problem.path, problem.given] = replace(
                first, allowed=f"{first.allowed} or {problem.allowed}"
            )
    return list(merged.values())


def _collect(config: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    raw: dict[str, object] = {}
    problems: list[Problem] = []
    for key, value in config.items():
        space, _, name = key.partition(":")
        if key == "aws:region":
            raw["region"] = value
        elif space == NAMESPACE and name in _TOP:
            raw[name] = _decoded(copy.deepcopy(value))
        elif space == NAMESPACE:
            problems.append(_unknown(key, value, [f"{NAMESPACE}:{top}" for top in _TOP]))
    return raw, problems


def _decoded(value: object) -> object:
    """Sections travel through the engine as JSON text, and `pulumi config set` writes them so."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _unknown(path: str, value: object, known: list[str]) -> Problem:
    last = path.rpartition(".")[2]
    near = get_close_matches(last, known, n=1, cutoff=0.6)
    fix = f"did you mean {near[0]}?" if near else "remove it"
    return Problem(
        printable(path), f"unknown key with value {shown(value)}", f"one of {', '.join(known)}", fix
    )


def path_of(location: tuple[int | str, ...]) -> str:
    """A pydantic location as the stack file spells it: ('models', 0, 'name') -> models[0].name."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return printable(text) or NAMESPACE


def _clean(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The location without the tags pydantic adds for union members and constraints."""
    cls: type[BaseModel] | None = Settings
    kept: list[int | str] = []
    for part in location:
        field = _field(cls, part)
        if isinstance(part, int):
            kept.append(part)
        elif field is not None:
            kept.append(part)
            cls = _section_in(field.annotation)
        elif cls is not None:
            kept.append(part)  # an unknown key
            cls = None
    return tuple(kept)


def _field(cls: type[BaseModel] | None, key: int | str) -> FieldInfo | None:
    fields = cls.model_fields.values() if cls is not None else ()
    return next((field for field in fields if field.alias == key), None)


def _section_in(annotation: object) -> type[BaseModel] | None:
    """The Section a field holds, itself or inside an optional or a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _section_in(arg)) is not None), None)


def _describe(location: tuple[int | str, ...]) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    cls: type[BaseModel] | None = Settings
    field: FieldInfo | None = None
    owner: type[BaseModel] | None = cls
    for part in location:
        if isinstance(part, str):
            owner = cls
            field = _field(cls, part)
            cls = _section_in(field.annotation) if field else None
    return owner, field


def _problem(detail: ErrorDetails, raw: Mapping[str, object]) -> Problem:
    location = _clean(detail["loc"])
    path = path_of(location)
    owner, field = _describe(location)
    kind, ctx = detail["type"], detail.get("ctx", {})
    description = (field.description or "").split(";")[0].rstrip(".") if field else ""
    if kind == "extra_forbidden" and owner is not None:
        known = [str(known_field.alias) for known_field in owner.model_fields.values()]
        return _unknown(path, detail["input"], known)
    if kind == "missing":
        return Problem(path, "missing", f"a value: {description.lower()}", f"add it{_example(field)}")
    given = shown(_value_at(raw, location))
    if kind == "headroom":
        return Problem(path, given, str(ctx["allowed"]), str(ctx["fix"]))
    way_out = "choose one of them" if kind == "literal_error" else f"correct it ({description})"
    return Problem(path, given, _allowed(kind, ctx, detail["msg"]), f"{way_out}{_example(field)}")


def _allowed(kind: str, ctx: Mapping[str, object], message: str) -> str:
    if kind == "literal_error":
        return f"one of {ctx['expected']}"
    if kind == "string_pattern_mismatch":
        return f"text of the form {ctx['pattern']}"
    if kind in _TYPE_WORDS:
        return _TYPE_WORDS[kind]
    if kind == "json_invalid":
        return "values that can be written as JSON"
    return re.sub(r"^(Input|Value|String|Tuple|List) should (be|have) ", "", message)


def _example(field: FieldInfo | None) -> str:
    if field is None:
        return ""
    examples = field.examples or next(
        (meta.examples for meta in field.metadata if isinstance(meta, FieldInfo) and meta.examples), None
    )
    return f", e.g. {examples[0]}" if examples else ""


def _value_at(raw: object, location: tuple[int | str, ...]) -> object:
    for part in location:
        if isinstance(raw, Mapping) and part in raw:
            raw = cast(Mapping[object, object], raw)[part]
        elif isinstance(raw, list) and isinstance(part, int) and part < len(cast(list[object], raw)):
            raw = cast(list[object], raw)[part]
        else:
            return None
    return raw


def _prune(raw: dict[str, object], detail: ErrorDetails) -> Location | None:
    """Drop the bad value where a default takes its place, and say where; None when none would, an empty place when
    nothing rests on it."""
    location = _clean(detail["loc"])
    if detail["type"] == "missing" or not location:
        return None
    _, field = _describe(location)
    keys = [part for part in location if isinstance(part, str)]
    # A bad element of a list with a default drops the whole list.
    cut = max(index for index, part in enumerate(location) if part == keys[-1])
    if field is not None and field.is_required():
        return None
    owner = _value_at(raw, location[:cut])
    if isinstance(owner, dict):
        cast(dict[object, object], owner).pop(location[cut], None)
        return location[: cut + 1] if field is not None else ()
    return None
