"""AWS as the recorded cloud knows it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import Any, cast

from lab.cloud.asked import Asked
from lab.cloud.aws import cluster, identity, messages, network, storage
from lab.cloud.aws.kind import Kind, Naming
from lab.cloud.journal import Journal, Refusal
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.rules import refusals
from lab.cloud.wire import Properties, has_unknown

KINDS: dict[str, Kind] = {
    **network.KINDS,
    **identity.KINDS,
    **cluster.KINDS,
    **storage.KINDS,
    **messages.KINDS,
}

_EARLY = frozenset({"tagsAll", "region"})


def _unlisted(asked: Asked) -> str:
    return f"{asked.name}-{asked.hex(7)}"


_UNLISTED = Kind(
    identity=_unlisted,
    adds=lambda asked, identity: {
        "arn": asked.arn(
            asked.type.split(":")[1].partition("/")[0], f"{asked.type.rpartition(':')[2].lower()}/{identity}"
        )
    },
)
"""A type that the book does not list: it gets an id and an ARN, and any input may change in place."""


class AwsBook:
    """One run's AWS: one account, one region unless a resource names another."""

    package = "aws"

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.version = version("pulumi-aws")
        self._region = "us-east-1"
        self._default_tags: dict[str, str] = {}
        self._account = Account()

    def region(self) -> str:
        return self._region

    def configure(self, settings: Mapping[str, Any]) -> None:
        self._region = str(settings.get("region") or self._region)
        tags: Any = settings.get("defaultTags") or {}
        opened = cast(dict[str, dict[str, str]], json.loads(tags) if isinstance(tags, str) else tags)
        self._default_tags.update(opened.get("tags") or {})

    def forced(self, type_: str) -> frozenset[str]:
        return _forced(type_)

    def deletes_first(self, type_: str, old: Properties, new: Properties) -> bool:
        del old, new
        return KINDS.get(type_, _UNLISTED).deletes_first

    def same(self, old: object, new: object) -> bool:
        return same(old, new)

    def check(self, asked: Asked, before: Properties) -> tuple[Properties, list[Refusal]]:
        if asked.type not in KINDS:
            self._journal.note(
                f"{asked.type} is not in the recorded cloud's book: {asked.name} gets an id and an ARN only"
            )
        inputs = dict(asked.inputs)
        naming = KINDS.get(asked.type, _UNLISTED).naming
        if naming is not None and inputs.get(naming.key) is None and not inputs.get(f"{naming.key}Prefix"):
            inputs[naming.key] = before.get(naming.key) or _named(asked, naming)
        return inputs, refusals(replace(asked, inputs=inputs), self._account)

    def answer(self, asked: Asked) -> tuple[str, Properties]:
        kind = KINDS.get(asked.type, _UNLISTED)
        identity = asked.id or kind.identity(asked)
        extra: Properties = {"region": asked.region}
        if kind.tagged:
            extra["tagsAll"] = {**self._default_tags, **asked.object("tags")}
        extra |= kind.adds(asked, identity)
        if "vpcId" in extra.get("vpcConfig", {}):
            declared = self._account.vpc_of(asked.object("vpcConfig").get("subnetIds"))
            extra["vpcConfig"]["vpcId"] = declared or extra["vpcConfig"]["vpcId"]
        return identity, extra

    def keeps(self, asked: Asked) -> Refusal | None:
        """EKS does not delete a cluster while its deletion protection is on (EKS API, DeleteCluster)."""
        if asked.type != "aws:eks/cluster:Cluster" or asked.inputs.get("deletionProtection") is not True:
            return None
        return Refusal(
            urn=asked.urn,
            type=asked.type,
            name=asked.name,
            path="deletionProtection",
            given="true on a cluster that is to be deleted",
            allowed="false",
            fix="set cluster.deletionProtection: false, bring the stack up, then destroy it",
        )

    def known_early(self, type_: str) -> frozenset[str]:
        del type_
        return _EARLY


@cache
def _forced(type_: str) -> frozenset[str]:
    return frozenset(KINDS.get(type_, _UNLISTED).forced.split())


def _named(asked: Asked, naming: Naming) -> str:
    suffix = f"-{asked.hex(7, 'name')}"
    stem = f"{naming.prefix}{asked.name}"[: naming.limit - len(suffix)]
    return (stem.lower() if naming.lower else stem) + suffix


def same(old: object, new: object) -> bool:
    """AWS's view: the order of keys in JSON text and the order of plain values in a list mean nothing."""
    if isinstance(old, str) and isinstance(new, str):
        return (
            old[:1] in "{[" and new[:1] in "{[" and _parsed(old) is not None and _parsed(old) == _parsed(new)
        )
    if isinstance(old, list) and isinstance(new, list):
        before, after = cast(list[object], old), cast(list[object], new)
        scalars = all(isinstance(item, str | int | float) for item in (*before, *after))
        return scalars and not has_unknown(after) and sorted(map(str, before)) == sorted(map(str, after))
    return False


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
