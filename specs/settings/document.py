"""docs/configuration.md and the editors' JSON Schema, written from the settings' own types."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from specs.settings.stack import Settings

PROJECT = Path(__file__).resolve().parents[2]
HEAD = """# Configuration

Generated from the types in `specs/settings/` by `make docs`; a test fails when it is stale.

Keys stand under `config:` in `Pulumi.<stack>.yaml`, each section as `headroom:<section>`; the region is `aws:region`.
`headroom check --stack S --show` prints a stack's settings with every default. For completion in an editor put
`# yaml-language-server: $schema=docs/configuration.schema.json` on the first line of a stack file.

| key | type | default | meaning |
|---|---|---|---|
"""


def markdown() -> str:
    """The page: one row a key, in the order of the types."""
    rows = [
        f"| `{path}` | {kind} | {default} | {meaning} |"
        for path, kind, default, meaning in _rows(Settings, "")
    ]
    return HEAD + "\n".join(rows) + "\n"


def schema() -> str:
    """JSON Schema of a whole stack file."""
    inner = Settings.model_json_schema(by_alias=True)
    properties = cast(dict[str, object], inner["properties"])
    region = properties.pop("region")
    config = {f"headroom:{key}": value for key, value in properties.items()}
    required = [f"headroom:{key}" for key in cast(list[str], inner["required"])]
    document: dict[str, object] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Headroom stack file",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": {"aws:region": region, **config},
                "patternProperties": {"^(?!headroom:)": {}},
                "additionalProperties": False,
                "required": required,
            }
        },
        "required": ["config"],
        "$defs": inner["$defs"],
    }
    return json.dumps(document, indent=2) + "\n"


def _rows(section: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for field in section.model_fields.values():
        path = f"{prefix}{field.alias}"
        if not prefix:
            path = "aws:region" if path == "region" else f"headroom:{path}"
        inner, many = _section(field.annotation)
        yield (
            path,
            _kind(field, inner, many),
            _default(field, inner),
            (field.description or "").replace("|", "\\|"),
        )
        if inner is not None:
            yield from _rows(inner, f"{path}[]." if many else f"{path}.")


def _section(annotation: object) -> tuple[type[BaseModel] | None, bool]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    for argument in get_args(annotation):
        inner, many = _section(argument)
        if inner is not None:
            return inner, many or Ellipsis in get_args(annotation)
    return None, False


def _kind(field: FieldInfo, inner: type[BaseModel] | None, many: bool) -> str:
    if inner is not None:
        return "list of mappings" if many else "mapping"
    words: list[str] = []
    _words(field.annotation, words)
    return ", ".join(dict.fromkeys(words))


def _words(annotation: object, words: list[str]) -> None:
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null"}
    if isinstance(annotation, type) and annotation in names:
        words.append(names[annotation])
    elif isinstance(annotation, str | int):
        words.append(f"`{annotation}`")
    elif Ellipsis in get_args(annotation):
        words.append("list")
    elif getattr(annotation, "__origin__", None) is dict:
        words.append("mapping")
    else:
        for argument in get_args(annotation):
            _words(argument, words)


def _default(field: FieldInfo, inner: type[BaseModel] | None) -> str:
    if field.is_required():
        return "required"
    if inner is not None and isinstance(field.default, inner):
        return "as below"
    value: object = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, tuple):
        value = [
            item.model_dump(by_alias=True) if isinstance(item, BaseModel) else item
            for item in cast(tuple[object, ...], value)
        ]
    return f"`{json.dumps(value)}`"


def write(project: Path = PROJECT) -> None:
    """Write both files below `project`/docs."""
    docs = project / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "configuration.md").write_text(markdown(), encoding="utf-8")
    (docs / "configuration.schema.json").write_text(schema(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT)
