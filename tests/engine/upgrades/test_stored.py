"""States are small, tell nothing, and are the same bytes whenever they are recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.upgrades.stored import FOLDER, clean, load, names, secrets

PROVIDER = "urn:pulumi:dev::headroom::pulumi:providers:aws::default"
VPC = "urn:pulumi:dev::headroom::aws:ec2/vpc:Vpc::vpc"
SUBNET = "urn:pulumi:dev::headroom::aws:ec2/subnet:Subnet::a"


def deployment(drawn: str, minute: int, *order: str) -> dict[str, Any]:
    """A stack of three resources, as it comes out of two runs."""
    made: dict[str, dict[str, Any]] = {
        PROVIDER: {"urn": PROVIDER, "id": drawn, "type": "pulumi:providers:aws"},
        VPC: {"urn": VPC, "id": "vpc-1", "type": "aws:ec2/vpc:Vpc", "provider": f"{PROVIDER}::{drawn}"},
        SUBNET: {
            "urn": SUBNET,
            "id": "subnet-1",
            "type": "aws:ec2/subnet:Subnet",
            "provider": f"{PROVIDER}::{drawn}",
            "dependencies": [VPC, PROVIDER] if minute % 2 else [PROVIDER, VPC],
        },
    }
    when = f"2026-12-01T00:{minute:02}:00Z"
    resources = [{**made[urn], "created": when, "sourcePosition": f"project:///{drawn}"} for urn in order]
    return {"manifest": {"time": when, "magic": "m"}, "secrets_providers": drawn, "resources": resources}


def test_two_runs_leave_the_same_state() -> None:
    first = clean(deployment("0a1b", 1, PROVIDER, VPC, SUBNET))
    assert first == clean(deployment("2c3d", 2, PROVIDER, VPC, SUBNET))


def test_each_resource_comes_after_what_it_needs() -> None:
    found = clean(deployment("0a1b", 1, SUBNET, VPC, PROVIDER))["resources"]
    assert [resource["urn"] for resource in found] == [PROVIDER, VPC, SUBNET]


@pytest.mark.parametrize("name", names())
def test_a_stored_state_holds_no_secret_and_no_place(name: str) -> None:
    state = load(name)
    assert secrets(state.deployment) == []
    text = json.dumps(state.deployment)
    assert [mark for mark in ("ciphertext", "sourcePosition", "/home/", "/root/") if mark in text] == []


def test_a_secret_in_a_state_is_found() -> None:
    sealed = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"x"'}
    assert secrets({"resources": [{"outputs": {"token": sealed}}]}) == [sealed]


def test_the_states_stay_small() -> None:
    """They are read by every clone."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
