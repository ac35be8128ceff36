"""The pack's per-stack numbers: a closed schema per policy, checked here because the engine leaves gaps.

Pulumi 3.274 checks the type of a known property and the spelling of a level. It accepts a property that no
schema names, a policy that does not exist when it carries a level, and `all`, which lowers every policy with
one word (pkg/resource/analyzer/config.go). Each would switch a rule off in silence, so the pack refuses them.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policies.plain import Plain, plain, shown
from policies.quantity import whole

_KINDS = {
    "count": "a whole number of 0 or more",
    "flag": "true or false",
    "texts": "a list of strings",
}
_SHAPES: dict[str, dict[str, object]] = {
    "count": {"type": "integer", "minimum": 0},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
}


@dataclass(frozen=True)
class Property:
    """One number or switch of a policy; the default is the safe side."""

    kind: Literal["count", "flag", "texts"]
    default: Plain
    about: str

    def json_schema(self) -> dict[str, object]:
        """The JSON schema the engine checks, default included."""
        return {**_SHAPES[self.kind], "default": self.default, "description": self.about}

    def accepts(self, value: Plain) -> bool:
        """Whether a value has this property's type."""
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "texts":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        return not isinstance(value, str) and (number := whole(value)) is not None and number >= 0


Schema: TypeAlias = Mapping[str, Property]


@dataclass(frozen=True)
class Problem:
    """A property that is refused, and why."""

    name: str
    message: str


def defaults(schema: Schema) -> dict[str, Plain]:
    """The values of a policy that nobody configured."""
    return {name: known.default for name, known in schema.items()}


def problems(schema: Schema, given: Mapping[str, object]) -> list[Problem]:
    """Every property that the policy does not have, or whose type is wrong."""
    found: list[Problem] = []
    for name in sorted(given):
        value = plain(given[name])
        if name not in schema:
            found.append(Problem(name, f"unknown property {_refused(name, schema)}"))
        elif not schema[name].accepts(value):
            message = (
                f"{name} is {shown(value)}; allowed: {_KINDS[schema[name].kind]}; way out: correct the value"
            )
            found.append(Problem(name, message))
    return found


def refusals(
    schemas: Mapping[str, Schema],
    properties: Mapping[str, Mapping[str, object]],
    lowered: Iterable[str],
) -> list[str]:
    """Every reason to refuse a configuration file, as one line each.

    `properties` are the values given per policy name; `lowered` the names whose level is below mandatory.
    """
    lines: list[str] = []
    for name in sorted(properties):
        if name == "all":
            if name in lowered:
                lines.append(
                    'all: it lowers every policy at once; allowed: "mandatory"; '
                    "way out: name the policies to lower, one by one"
                )
        elif name not in schemas:
            lines.append(f"no such policy {_refused(name, schemas)}")
        else:
            lines += [f"{name}: {problem.message}" for problem in problems(schemas[name], properties[name])]
    return lines


def _refused(name: str, allowed: Iterable[str]) -> str:
    return f"{shown(name)}; allowed: {_listed(allowed)}; way out: {_closest(name, allowed)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "no property at all"


def _closest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:100], [*names, "enforcementLevel"], n=1, cutoff=0.5)
    return f'did you mean "{near[0]}"?' if near else "remove it"
