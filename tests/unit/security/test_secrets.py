"""No secret reaches the state, an argument or a message in clear text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pulumi
import pytest

from lab.render import Declared, render
from specs.checks.engine import SECRETS
from specs.problems import Problem
from specs.sealed import HIDDEN, redacted, refused
from specs.settings.source import load, stack_path
from tests.unit.program.rendered import PROJECT, declared
from tests.unit.security.pods import containers, templates

SEALED = "v1:c2VhbGVk:aHVudGVyMg=="
CHARTS = "headroom:platform"
TELLING = ("TOKEN", "KEY", "PASSWORD", "SECRET", "CREDENTIAL")


def local(**sections: object) -> list[Declared]:
    """The local stack, the smallest, with sections laid over; one written `{"secure": ...}` is a secret."""
    config = dict(load(stack_path(PROJECT, "local")).config)
    for section, value in sections.items():
        below = config.get(f"headroom:{section}", {})
        config[f"headroom:{section}"] = {**cast(dict[str, Any], below), **cast(dict[str, Any], value)}
    return render(PROJECT / "__main__.py", "local", config)


def test_a_secret_among_a_charts_values_is_sealed_with_them() -> None:
    """As `pulumi config set --secret --path` writes one; the engine encrypts in its state what is marked so."""
    found = local(platform={"keda": {"install": True, "values": {"extra": {"token": {"secure": SEALED}}}}})
    [release] = [entry for entry in found if entry.type.endswith(":Release")]
    assert release.inputs["values"] == HIDDEN
    assert SEALED not in json.dumps([entry.as_json() for entry in found])


def test_without_a_secret_the_values_can_be_read_and_judged() -> None:
    [release] = [entry for entry in local(platform={"keda": {"install": True}}) if "Release" in entry.type]
    assert isinstance(release.inputs["values"], Mapping)


def test_a_secret_in_any_other_section_is_refused_before_anything_is_declared() -> None:
    with pytest.raises(pulumi.RunError) as refusal:
        local(weights={"bucketName": {"secure": SEALED}})
    assert "weights: [secret]" in str(refusal.value)
    assert "models[].secretName" in str(refusal.value)
    assert SEALED not in str(refusal.value)


def test_a_mistake_beside_a_secret_is_told_without_what_was_given() -> None:
    with pytest.raises(pulumi.RunError) as refusal:
        local(platform={"keda": {"values": {"a": {"secure": SEALED}}, "verison": "hunter2"}})
    assert "platform.keda.verison" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_only_the_section_with_the_secret_is_hidden() -> None:
    problems = [
        Problem("platform.keda", "hunter2", "text", "fix"),
        Problem("models[0].image", "x", "text", "fix"),
    ]
    assert [problem.given for problem in redacted(problems, [CHARTS])] == [HIDDEN, "x"]
    assert refused([CHARTS]) == []


def values(body: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every leaf with its path."""
    if isinstance(body, Mapping):
        for key, item in cast(Mapping[str, object], body).items():
            yield from values(item, f"{path}.{key}")
    elif isinstance(body, list | tuple):
        for index, item in enumerate(cast(list[object], body)):
            yield from values(item, f"{path}[{index}]")
    else:
        yield path, body


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_variables_that_carry_secrets_are_taken_from_a_secret_that_is_only_named(stack: str) -> None:
    seen = [(name, each) for name, pod in templates(declared(stack)) for each in containers(pod)]
    assert seen
    for name, container in seen:
        for variable in container.get("env", []):
            if any(word in variable["name"] for word in TELLING):
                assert set(variable.get("valueFrom", {})) == {"secretKeyRef"}, f"{name}: {variable['name']}"


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_the_program_makes_no_secret_and_passes_none_as_an_argument(stack: str) -> None:
    assert [entry.name for entry in declared(stack) if entry.type.endswith(":Secret")] == []
    for name, pod in templates(declared(stack)):
        for container in containers(pod):
            arguments = [str(text) for text in (*container.get("command", []), *container.get("args", []))]
            assert [text for text in arguments if text.startswith(SECRETS)] == [], name


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_no_rendered_value_looks_like_a_credential(stack: str) -> None:
    marks = ("hf_", "AKIA", "ASIA", "-----BEGIN", "eyJhbGciOi")
    found = [
        f"{entry.name}{path}"
        for entry in declared(stack)
        for path, value in values(entry.inputs)
        if isinstance(value, str) and value.startswith(marks)
    ]
    assert found == []
