"""Makes the review of one stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lab.cloud.outcome import OnEvent
from lab.cloud.pack import PolicyPack
from lab.review.resources import touched
from lab.review.review import Review
from planner.plan import Plan, difference, plan
from specs.checks import examine
from specs.problems import SettingsError, printable
from specs.settings.source import StackFile, load, stack_path


def review(project: Path, base: Path, stack: str, cli: Path, on_event: OnEvent | None = None) -> Review:
    """What the tree `project` changes about `stack` of the tree `base`.

    A configuration that is refused is a review too. Raises EngineError, StackFileError and PolicyPackError.
    """
    numbers_before, numbers_after = (_numbers(tree, stack) for tree in (base, project))
    try:
        file = load(stack_path(project, stack))
    except SettingsError as error:
        return Review(stack=stack, problems=tuple(error.problems))
    settings, findings = examine(file.config, stack)
    if settings is None or findings.problems:
        return Review(stack=stack, problems=tuple(findings.problems))
    after = plan(settings, stack, search=False)
    before, notes = _planned(base, stack, file, after)
    config = project / "policies" / f"{stack}.json"
    pack = PolicyPack(path=project / "policies", config=config if config.is_file() else None)
    seen = touched(project, base, stack, cli, pack, on_event)
    return Review(
        stack=stack,
        touched=seen,
        before=before,
        after=after,
        difference=difference(before, after) if before else None,
        numbers_before=numbers_before,
        numbers_after=numbers_after,
        notes=(*([f"{seen.without}: every resource is shown as new"] if seen.without else ()), *notes),
    )


def _planned(base: Path, stack: str, head: StackFile, after: Plan) -> tuple[Plan | None, tuple[str, ...]]:
    """The base's plan by this tree's planner: one set of prices and models on both sides."""
    path = stack_path(base, stack)
    if not path.is_file():
        return None, ()
    try:
        file = load(path)
        if file.config == head.config:
            return after, ()
        settings, findings = examine(file.config, stack)
    except SettingsError as error:
        return None, (f"the base's configuration can't be read: {printable(str(error.problems[0]))}",)
    if settings is None or findings.problems:
        return None, (f"the base's configuration is refused: {printable(str(findings.problems[0]))}",)
    return plan(settings, stack, search=False), ()


def _numbers(tree: Path, stack: str) -> Mapping[str, object] | None:
    try:
        found: object = json.loads((tree / "policies" / f"{stack}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return cast(Mapping[str, object], found) if isinstance(found, dict) else None
