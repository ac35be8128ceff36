"""Deployments that would fail, undo themselves or judge nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from specs import cron
from specs.policy_pack import stack_numbers, stacks_with_numbers
from specs.problems import Problem, shown
from specs.settings.deployments import DeployedStack
from specs.settings.stack import Settings


def problems(settings: Settings, own: str) -> Iterator[Problem]:
    """Reasons to refuse the section; `own` is the stack that holds it, empty when that is not known."""
    if settings.deployments is None:
        return
    if not settings.deployments.stacks:
        yield Problem("deployments.stacks", "[]", "at least one stack", "add one, or remove deployments")
    seen: set[str] = set()
    for index, stack in enumerate(settings.deployments.stacks):
        path = f"deployments.stacks[{index}]"
        if stack.name in seen:
            yield Problem(f"{path}.name", f"{shown(stack.name)} twice", "each stack once", "remove one")
        seen.add(stack.name)
        if stack.paths == ():
            yield Problem(
                f"{path}.paths", "[]", "at least one path, or null for the program's own", "remove paths"
            )
        yield from _schedules(path, stack)
        yield from _ends(path, stack)
        yield from _group(path, stack)
        if stack.name == own:
            yield from _itself(path, stack, settings)


def _schedules(path: str, stack: DeployedStack) -> Iterator[Problem]:
    stated = {
        f"{path}.drift.cron": stack.drift.cron if stack.drift else None,
        f"{path}.night.destroy": stack.night.destroy if stack.night else None,
        f"{path}.night.up": stack.night.up if stack.night else None,
    }
    for place, text in stated.items():
        if text is None:
            continue
        try:
            never = not cron.parse(text).ever()
        except cron.CronError as error:
            yield Problem(
                place, f"{shown(text)}: {error}", "five cron fields, UTC", "write it as 0 19 * * 1-5"
            )
        else:
            if never:
                yield Problem(place, shown(text), "a schedule that ever fires", "choose a day that exists")
    if stack.night is not None and stack.night.destroy == stack.night.up:
        yield Problem(
            f"{path}.night.up",
            f"{shown(stack.night.up)}, as destroy",
            "another moment than destroy",
            "bring it up in the morning",
        )


def _ends(path: str, stack: DeployedStack) -> Iterator[Problem]:
    if stack.ttl is None:
        return
    try:
        datetime.fromisoformat(stack.ttl.at)
    except ValueError:
        yield Problem(
            f"{path}.ttl.at",
            shown(stack.ttl.at),
            "a moment of the calendar, UTC",
            "write it as 2027-01-31T18:00:00Z",
        )
    if stack.night is not None:
        yield Problem(
            f"{path}.ttl",
            "ttl and night on one stack",
            "one of them: after the last destroy the nightly schedule would bring the stack back",
            "remove night or ttl",
        )


def _group(path: str, stack: DeployedStack) -> Iterator[Problem]:
    if stack.policies and stack_numbers(stack.name) is None:
        there = ", ".join(stacks_with_numbers()) or "none yet"
        yield Problem(
            f"{path}.policies",
            f"true, and policies/{stack.name}.json is missing or no JSON object",
            f"a stack with such a file: {there}",
            f"write policies/{stack.name}.json, or set policies to false",
        )


def _itself(path: str, stack: DeployedStack, settings: Settings) -> Iterator[Problem]:
    """A stack that destroys itself takes its own schedules with it, and stops at what is protected."""
    if stack.night is not None:
        yield Problem(
            f"{path}.night",
            f"a nightly destroy of {stack.name} in its own stack file",
            "a section in another stack's file: destroyed with the stack, the schedule could not bring it back",
            f"move the entry of {stack.name} to the file of a stack that stays, such as prod",
        )
    if stack.ttl is not None and (settings.cluster.deletion_protection or settings.weights.bucket_retain):
        yield Problem(
            f"{path}.ttl",
            "a scheduled destroy of a stack that keeps its cluster or its bucket",
            "cluster.deletionProtection false and weights.bucketRetain false: a destroy stops at what is protected",
            "set both to false, or remove ttl",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Accepted, and worth a second look."""
    for index, stack in enumerate(settings.deployments.stacks if settings.deployments else ()):
        path = f"deployments.stacks[{index}]"
        if not stack.policies:
            yield Problem(
                f"{path}.policies",
                "false",
                "true: without a policy group Pulumi Cloud deploys what the pack would refuse",
                "set it to true",
            )
        if stack.drift is not None and stack.drift.auto_remediate:
            yield Problem(
                f"{path}.drift.autoRemediate",
                "true",
                "false where people mend by hand at night: their change is undone by the next run",
                "set it to false, or tell them",
            )
