"""What is said of a value that could not be read: that alone, and no sums over its default."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from specs.checks import examine
from specs.settings.stack import Settings
from tests.unit.specs.checks.test_refusals import Config, base, both, model, pool, put


def paths(config: Config) -> list[str]:
    return [problem.path for problem in examine(config)[1].problems]


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("replicas", {"min": 1, "max": "two"}, "models[0].replicas.max"),
        ("replicas", {"min": 1, "max": True}, "models[0].replicas.max"),
        ("replicas", 2, "models[0].replicas"),
        ("replicas", "two", "models[0].replicas"),
        ("gpusPerReplica", "one", "models[0].gpusPerReplica"),
        ("scaling", {"warmSpares": "one"}, "models[0].scaling.warmSpares"),
    ],
)
def test_a_bad_count_is_not_summed_into_the_limits(key: str, value: object, path: str) -> None:
    config = base()
    both(pool("gpuLimit", value=2), put("headroom:gpuBudget", "maxGpus", value=2))(config)
    model("replicas", value={"min": 1, "max": 2})(config)
    assert paths(config) == []
    model(key, value=value)(config)
    assert paths(config) == [path]


def test_a_count_that_is_read_is_summed() -> None:
    config = base()
    pool("gpuLimit", value=2)(config)
    assert paths(config) == ["gpuPools[0].gpuLimit"]


def test_a_floor_is_not_held_against_the_default_of_a_bad_ceiling() -> None:
    config = base()
    both(pool("gpuLimit", value=40), put("headroom:gpuBudget", "maxGpus", value=40))(config)
    model("replicas", value={"min": 20, "max": "thirty"})(config)
    assert paths(config) == ["models[0].replicas.max"]
    model("replicas", value={"min": 20, "max": 10})(config)
    assert paths(config) == ["models[0].replicas.min"]


def test_what_does_not_rest_on_the_bad_value_is_told_with_it() -> None:
    config = base()
    model("replicas", value={"min": 1, "max": "two"})(config)
    model("pool", value="inferences")(config)
    assert paths(config) == ["models[0].pool", "models[0].replicas.max"]


def _numbers() -> Iterator[list[str | int]]:
    """Every key of the schema that holds a number, as a path from the top, in the first of each list."""
    schema = Settings.model_json_schema(by_alias=True)

    def resolved(node: Any) -> Any:
        return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node

    def below(node: Any, path: list[str | int]) -> Iterator[list[str | int]]:
        for option in map(resolved, resolved(node).get("anyOf", [node])):
            if option.get("type") in ("integer", "number"):
                yield path
            for key, value in option.get("properties", {}).items():
                yield from below(value, [*path, key])
            if isinstance(option.get("items"), dict):
                yield from below(option["items"], [*path, 0])

    for top, *path in below(schema, []):
        yield [f"headroom:{top}", *path]


NUMBERS = list(_numbers())


@pytest.mark.parametrize("steps", NUMBERS, ids=[".".join(map(str, steps)) for steps in NUMBERS])
def test_a_bad_number_anywhere_is_one_problem(steps: list[str | int]) -> None:
    config = base()
    place: Any = config
    for step, following in pairwise(steps):
        if isinstance(step, int):
            place.extend({} for _ in range(step + 1 - len(place)))
            place = place[step]
        else:
            place = place.setdefault(step, [] if isinstance(following, int) else {})
    place[steps[-1]] = "many"
    found = [problem for problem in examine(config)[1].problems if problem.given != "missing"]
    assert ['"many"' in problem.given for problem in found] == [True], found
