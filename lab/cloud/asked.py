"""One question to the recorded cloud, and the names it hands out."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from lab.cloud.wire import Properties

ACCOUNT = "111122223333"
"""The example account id of the AWS documentation: nobody's."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A resource as the engine asks for it.

    `forced` holds the inputs that would replace the resource when they change: ids and generated names are
    drawn from the URN and from them, so a replacement gets a new id, and the same stack gets the same ids in
    every run.
    """

    urn: str
    type: str
    name: str
    inputs: Properties
    region: str
    forced: Properties
    id: str = ""

    @cached_property
    def _seed(self) -> bytes:
        drawn = json.dumps([self.urn, self.type, self.forced], sort_keys=True, separators=(",", ":"))
        return drawn.encode()

    def hex(self, length: int, salt: str = "") -> str:
        """`length` hexadecimal digits, the same in each run. `salt` tells several ids of one resource
        apart."""
        drawn = hashlib.sha256(self._seed + salt.encode()).hexdigest()
        return (drawn * (length // len(drawn) + 1))[:length]

    def number(self, below: int, salt: str = "") -> int:
        """A whole number from 0 up to `below`, not included, the same in each run."""
        return int(self.hex(12, salt), 16) % below

    def arn(self, service: str, resource: str, *, regional: bool = True, account: bool = True) -> str:
        """An ARN of the partition aws; IAM and S3 are the services without a region or an account."""
        region = self.region if regional else ""
        return f"arn:aws:{service}:{region}:{ACCOUNT if account else ''}:{resource}"

    def text(self, key: str, default: str = "") -> str:
        """The input as text; the default where it is absent."""
        value = self.inputs.get(key)
        return default if value is None else str(value)

    def object(self, key: str) -> Properties:
        """The input as an object; empty where it is absent or not known yet."""
        value = self.inputs.get(key)
        return dict(cast(Properties, value)) if isinstance(value, dict) else {}
