"""What a well-formed configuration may still get wrong: each module is one theme, each rule says the way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specs.checks import aws, caps, deployments, engine, ingress, leaving, names, nodes, serving
from specs.problems import Problem
from specs.settings.read import read_leniently
from specs.settings.stack import Settings

_THEMES = (names, aws, nodes, serving, engine, caps, leaving, ingress)


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
    """
    settings, misshapen = read_leniently(config)
    found = check(settings, stack) if settings is not None else Findings([], [])
    return settings, Findings(sorted({*misshapen, *found.problems}), found.warnings)


__all__ = ["Findings", "check", "examine"]
