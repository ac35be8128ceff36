"""Pulumi Cloud as the recorded cloud answers for it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lab.cloud.asked import Asked
from lab.cloud.pulumiservice.book import KINDS, PulumiServiceBook
from lab.cloud.wire import UNKNOWN

STACK = {"organization": "acme", "project": "headroom", "stack": "dev"}
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
PACK = {"organization": "acme", "name": "headroom", "versionTag": "0.1.0-h1", "sourcePath": "pack"}
GROUP = {"organizationName": "acme", "name": "headroom-dev", "mode": "preventative"}
SOUND: dict[str, dict[str, Any]] = {
    "DeploymentSettings": STACK,
    "DeploymentSchedule": STACK | {"pulumiOperation": "destroy", "scheduleCron": "0 19 * * *"},
    "DriftSchedule": STACK | {"scheduleCron": "0 4 * * *"},
    "TtlSchedule": STACK | {"timestamp": "2027-01-31T18:00:00Z"},
    "PolicyPack": PACK,
    "PolicyGroup": GROUP,
}


def asked(kind: str, **inputs: Any) -> Asked:
    type_ = f"pulumiservice:index:{kind}"
    forced = {key: inputs.get(key) for key in sorted(PulumiServiceBook().forced(type_))}
    urn = f"urn:pulumi:prod::headroom::{type_}::it"
    return Asked(urn=urn, type=type_, name="it", inputs=inputs, region="", forced=forced)


def refused(kind: str, **inputs: Any) -> list[str]:
    return [refusal.path for refusal in PulumiServiceBook().check(asked(kind, **inputs), {})[1]]


def test_every_kind_has_an_example() -> None:
    assert {f"pulumiservice:index:{kind}" for kind in SOUND} == set(KINDS)


@pytest.mark.parametrize("kind", SOUND)
def test_a_sound_resource_is_taken(kind: str) -> None:
    assert refused(kind, **SOUND[kind]) == []
    assert refused(kind, **dict.fromkeys(SOUND[kind], UNKNOWN) | {"mode": "audit"}) == []


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("DeploymentSettings", "acme/headroom/dev"),
        ("DeploymentSchedule", f"acme/headroom/dev/{UUID}"),
        ("DriftSchedule", f"acme/headroom/dev/drift/{UUID}"),
        ("TtlSchedule", f"acme/headroom/dev/ttl/{UUID}"),
        ("PolicyPack", "acme/headroom/0.1.0-h1"),
        ("PolicyGroup", "acme/headroom-dev"),
    ],
)
def test_an_id_looks_like_the_providers(kind: str, pattern: str) -> None:
    identity, extra = PulumiServiceBook().answer(asked(kind, **SOUND[kind]))
    assert re.fullmatch(pattern, identity)
    assert ("scheduleId" in extra) == kind.endswith("Schedule")


@pytest.mark.parametrize(
    ("kind", "inputs", "path"),
    [
        ("DeploymentSettings", {"stack": ""}, "stack"),
        ("DeploymentSchedule", {"timestamp": "2027-01-31T18:00:00Z"}, "scheduleCron"),
        ("DeploymentSchedule", {"scheduleCron": ""}, "scheduleCron"),
        ("DriftSchedule", {"scheduleCron": None}, "scheduleCron"),
        ("TtlSchedule", {"timestamp": "tomorrow"}, "timestamp"),
        ("TtlSchedule", {"timestamp": "2027-01-31T18:00:00"}, "timestamp"),
        ("PolicyPack", {"versionTag": "1.0.0+build"}, "versionTag"),
        ("PolicyGroup", {"mode": "mandatory"}, "mode"),
    ],
)
def test_what_pulumi_cloud_would_refuse_is_refused(kind: str, inputs: dict[str, Any], path: str) -> None:
    assert refused(kind, **SOUND[kind] | inputs) == [path]


def test_a_kind_that_nobody_wrote_down_is_refused_with_those_that_are() -> None:
    [refusal] = PulumiServiceBook().check(asked("Webhook", url="https://example.com"), {})[1]
    assert "PolicyGroup" in refusal.allowed


def test_a_published_version_is_replaced_and_a_schedule_changes_in_place() -> None:
    book = PulumiServiceBook()
    assert {"versionTag", "sourcePath", "policies"} <= book.forced("pulumiservice:index:PolicyPack")
    assert not book.deletes_first("pulumiservice:index:PolicyPack", {}, {}), (
        "its group still points at the old one"
    )
    assert book.forced("pulumiservice:index:DriftSchedule") == {"organization", "project", "stack"}
    assert "mode" in book.forced("pulumiservice:index:PolicyGroup")
