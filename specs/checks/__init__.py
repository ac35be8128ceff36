"""What a well-formed configuration may still get wrong: each module is one theme, each rule says the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specs.checks import aws, caps, chart_values, deployments, engine, ingress, leaving, names, nodes, serving
from specs.problems import Problem
from specs.settings.read import readings
from specs.settings.stack import Settings

_THEMES = (names, aws, nodes, serving, engine, caps, leaving, ingress, chart_values)


@dataclass(frozen=True)
class Findings:
    """Reasons to refuse the configuration, and what is accepted but worth knowing; both in path order."""

    problems: list[Problem]
    warnings: list[Problem]


def check(settings: Settings, stack: str = "") -> Findings:
    """Every problem and warning of a configuration that could be read; `stack` is the stack it is of, if known."""
    problems = [problem for theme in _THEMES for problem in theme.problems(settings)]
    warnings = [warning for theme in _THEMES for warning in theme.warnings(settings)]
    problems += deployments.problems(settings, stack)
    warnings += deployments.warnings(settings)
    return Findings(sorted(set(problems)), sorted(set(warnings)))


def examine(config: Mapping[str, object], stack: str = "") -> tuple[Settings | None, Findings]:
    """Read raw configuration of `stack` and judge it: Settings as far as they can be read, with every problem of
    shape and meaning. Settings are to be used only without problems.

    A problem of meaning that rests on a value which could not be read is left out: it would speak of the default.
    """
    reading = readings(config)
    if reading.settings is None:
        return None, Findings(reading.problems, [])
    found = check(reading.settings, stack)
    others = [check(other, stack) for other in reading.others]
    problems = _certain(found.problems, [other.problems for other in others], reading.replaced)
    warnings = _certain(found.warnings, [other.warnings for other in others], reading.replaced)
    return reading.settings, Findings(sorted({*reading.problems, *problems}), warnings)


def _certain(found: list[Problem], others: Sequence[list[Problem]], replaced: Sequence[str]) -> list[Problem]:
    """What is said the same whatever stands in for the bad values, and not of these themselves."""
    return [
        problem
        for problem in found
        if all(problem in other for other in others)
        and not any(
            problem.path == path or problem.path.startswith((f"{path}.", f"{path}[")) for path in replaced
        )
    ]
