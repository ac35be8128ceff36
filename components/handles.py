"""What one component hands to another through `__main__`, by shape: components never import each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pulumi


class NetworkHandle(Protocol):
    """The VPC as others need it; subnet ids in zone order."""

    @property
    def vpc_id(self) -> pulumi.Output[str]: ...
    @property
    def private_subnet_ids(self) -> Sequence[pulumi.Output[str]]: ...
    @property
    def public_subnet_ids(self) -> Sequence[pulumi.Output[str]]: ...
    @property
    def ready(self) -> Sequence[pulumi.Resource]: ...
