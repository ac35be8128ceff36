"""What one run has declared so far: the part of an account that a single resource's inputs cannot show."""

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import cast


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """A declared subnet: `vpc` and `zone` are empty while they are not known."""

    urn: str
    vpc: str
    zone: str
    network: IPv4Network


@dataclass
class Account:
    """Names, networks and inline policy sizes of one run. Hold `lock` around a read and the write that
    follows from it."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    owners: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    vpcs: dict[str, IPv4Network] = field(default_factory=dict[str, IPv4Network])
    """Network by VPC id."""
    subnets: dict[str, Subnet] = field(default_factory=dict[str, Subnet])
    """By subnet id."""
    inline: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    """Characters of inline policy by role name and URN."""

    def claim(self, key: Hashable, urn: str) -> str:
        """Takes a name for a resource; the URN of the resource that has it already, else an empty string."""
        with self.lock:
            owner = self.owners.setdefault(key, urn)
        return "" if owner == urn else owner

    def vpc_of(self, subnet_ids: object) -> str:
        """The VPC of the first subnet that this run declared; empty where none is known."""
        with self.lock:
            known = [
                self.subnets[one].vpc for one in cast(list[str], subnet_ids or []) if one in self.subnets
            ]
        return next((vpc for vpc in known if vpc), "")
