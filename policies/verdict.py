"""What a rule answers: findings, none, or that it does not apply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policies.declared import KubeObject, Resource
from policies.plain import Plain

Config = Mapping[str, Plain]


@dataclass(frozen=True)
class Finding:
    """One violation, on one resource."""

    urn: str
    message: str


Verdict = list[Finding] | None
"""Findings; an empty list is a pass, `None` is not applicable."""


def finding(on: KubeObject | Resource, found: str, allowed: str, fix: str) -> Finding:
    """A violation in the house form: the resource, the value found, the limit, the way out."""
    label = on.label if isinstance(on, KubeObject) else f"{on.type.rsplit(':', 1)[-1]} {on.name}"
    return Finding(on.urn, f"{label}: {found}; allowed: {allowed}; way out: {fix}")


def redacted(message: str, secrets: Iterable[str]) -> str:
    """The message without any secret text; longest first, so that a secret inside another leaves no rest."""
    for secret in sorted({text for text in secrets if text}, key=len, reverse=True):
        if len(secret) >= 4:
            message = message.replace(secret, "[secret]")
    return message
