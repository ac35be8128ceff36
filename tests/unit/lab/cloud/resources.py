"""Questions to the recorded cloud as a test writes them."""

from typing import Any

from lab.cloud.asked import Asked
from lab.cloud.aws.book import AwsBook
from lab.cloud.journal import Journal, Refusal
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.rules import refusals


def asked(type_: str, logical: str = "it", /, **inputs: Any) -> Asked:
    """A resource of the stack dev with these inputs."""
    forced = {key: inputs.get(key) for key in AwsBook(Journal()).forced(type_) if not key.startswith("-")}
    return Asked(
        urn=f"urn:pulumi:dev::headroom::{type_}::{logical}",
        type=type_,
        name=logical,
        inputs=inputs,
        region="us-east-1",
        forced=forced,
    )


def refused(question: Asked, account: Account | None = None) -> list[Refusal]:
    """What AWS would not take about it."""
    return refusals(question, account or Account())
