"""What Pulumi Cloud answers for one organization's stacks (pulumi-pulumiservice 1.5.0, provider/pkg/resources)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Any

from lab.cloud.asked import Asked
from lab.cloud.journal import Refusal
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import UNKNOWN, Properties

_PACKAGE = "pulumiservice"
_STACK = "organization project stack"
_TAG = re.compile(r"[a-zA-Z0-9-_.]{1,100}")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Id, outputs beyond the inputs, required inputs and replace-on-change inputs of one type."""

    identity: Callable[[Asked], str]
    adds: Callable[[Asked], Properties] = lambda asked: {}  # noqa: ARG005
    needs: str
    forced: str
    deletes_first: bool = False


def _stack(asked: Asked, *more: str) -> str:
    return "/".join([*(asked.text(key) for key in _STACK.split()), *more])


def _schedule(asked: Asked) -> Properties:
    drawn = asked.hex(32, "schedule")
    return {"scheduleId": "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))}


def _scheduled(*kind: str) -> Callable[[Asked], str]:
    return lambda asked: _stack(asked, *kind, str(_schedule(asked)["scheduleId"]))


KINDS: Mapping[str, Kind] = {
    f"{_PACKAGE}:index:DeploymentSettings": Kind(
        identity=_stack, needs=_STACK, forced=_STACK, deletes_first=True
    ),
    f"{_PACKAGE}:index:DeploymentSchedule": Kind(
        identity=_scheduled(),
        adds=_schedule,
        needs=f"{_STACK} pulumiOperation",
        forced=f"{_STACK} timestamp",
    ),
    f"{_PACKAGE}:index:DriftSchedule": Kind(
        identity=_scheduled("drift"), adds=_schedule, needs=f"{_STACK} scheduleCron", forced=_STACK
    ),
    f"{_PACKAGE}:index:TtlSchedule": Kind(
        identity=_scheduled("ttl"), adds=_schedule, needs=f"{_STACK} timestamp", forced=f"{_STACK} timestamp"
    ),
    # A published version never changes: any difference is another version.
    f"{_PACKAGE}:index:PolicyPack": Kind(
        identity=lambda asked: "/".join(asked.text(key) for key in ("organization", "name", "versionTag")),
        adds=lambda asked: {"version": 1, "contentHash": asked.hex(64, "content")},
        needs="organization name versionTag sourcePath",
        forced="organization name versionTag displayName policies sourcePath",
    ),
    f"{_PACKAGE}:index:PolicyGroup": Kind(
        identity=lambda asked: f"{asked.text('organizationName')}/{asked.text('name')}",
        needs="organizationName name",
        forced="name entityType mode",
        deletes_first=True,
    ),
}


class PulumiServiceBook:
    """One run's Pulumi Cloud. It asks for no access token and knows no organization but the ones it is told."""

    package = _PACKAGE

    def __init__(self) -> None:
        self.version = version("pulumi-pulumiservice")

    def region(self) -> str:
        return ""

    def configure(self, settings: Mapping[str, Any]) -> None:
        """An access token or another address changes no answer."""

    def forced(self, type_: str) -> frozenset[str]:
        return frozenset(KINDS[type_].forced.split()) if type_ in KINDS else frozenset()

    def deletes_first(self, type_: str, old: Properties, new: Properties) -> bool:
        del old, new
        return type_ in KINDS and KINDS[type_].deletes_first

    def same(self, old: object, new: object) -> bool:
        return old == new

    def check(self, asked: Asked, before: Properties) -> tuple[Properties, list[Refusal]]:
        del before
        return asked.inputs, [problem.of(asked) for problem in _problems(asked)]

    def answer(self, asked: Asked) -> tuple[str, Properties]:
        kind = KINDS[asked.type]
        return asked.id or kind.identity(asked), kind.adds(asked)

    def keeps(self, asked: Asked) -> Refusal | None:
        del asked
        return None

    def known_early(self, type_: str) -> frozenset[str]:
        del type_
        return frozenset()


def _problems(asked: Asked) -> list[Problem]:
    if asked.type not in KINDS:
        known = ", ".join(sorted(kind.rpartition(":")[2] for kind in KINDS))
        return [Problem(path="", given=asked.type, allowed=f"one of {known}", fix="add it to the book")]
    missing = [key for key in KINDS[asked.type].needs.split() if not asked.inputs.get(key)]
    return [
        *(Problem(path=key, given="nothing", allowed="a value", fix="set it") for key in missing),
        *_moments(asked),
        *_policies(asked),
    ]


def _moments(asked: Asked) -> list[Problem]:
    cron, moment = asked.inputs.get("scheduleCron"), asked.inputs.get("timestamp")
    if asked.type.endswith(":DeploymentSchedule") and bool(cron) == bool(moment):
        given = "both" if cron else "neither"
        return [Problem(path="scheduleCron", given=given, allowed="a cron or a timestamp", fix="keep one")]
    if not moment or moment == UNKNOWN:
        return []
    try:
        zoned = datetime.fromisoformat(str(moment)).tzinfo is not None
    except ValueError:
        zoned = False
    if zoned:
        return []
    return [
        Problem(path="timestamp", given=short(moment), allowed="RFC 3339", fix="write 2027-01-31T18:00:00Z")
    ]


def _policies(asked: Asked) -> list[Problem]:
    mode, tag = asked.inputs.get("mode"), asked.text("versionTag", "0")
    found: list[Problem] = []
    if asked.type.endswith(":PolicyGroup") and mode not in (None, "audit", "preventative"):
        found.append(Problem(path="mode", given=short(mode), allowed="audit or preventative", fix="use one"))
    if asked.type.endswith(":PolicyPack") and tag != UNKNOWN and not _TAG.fullmatch(tag):
        allowed = "1 to 100 letters, digits and -_."
        found.append(
            Problem(path="versionTag", given=short(tag), allowed=allowed, fix="use a semantic version")
        )
    return found
