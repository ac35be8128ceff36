"""What is recorded about one type of AWS resource."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.cloud.asked import Asked
from lab.cloud.wire import Properties

CREATED = "2026-01-01T00:00:00Z"
"""The recorded cloud's one moment: nothing in it depends on the clock."""

Identity = Callable[[Asked], str]
Adds = Callable[[Asked, str], Properties]


@dataclass(frozen=True, kw_only=True)
class Naming:
    """How the provider names a resource whose name is not given: `<logical name>-<7 hex>` in this property.

    `limit` is the longest name AWS takes, in characters. `prefix` goes before the logical name (KMS aliases).
    """

    key: str
    limit: int
    prefix: str = ""
    lower: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Id, outputs beyond the inputs, replace-on-change properties (separated by spaces) and the naming of
    one type.

    `-name` in `forced` is a property whose removal alone replaces the resource.
    """

    identity: Identity
    adds: Adds = lambda asked, identity: {}  # noqa: ARG005
    forced: str = ""
    naming: Naming | None = None
    tagged: bool = True
    deletes_first: bool = False


def prefixed(prefix: str, digits: int = 17) -> Identity:
    """Ids such as vpc-0a1b2c3d4e5f60718: EC2's since 2018 are `0` and 16 hexadecimal digits."""
    return lambda asked: f"{prefix}-0{asked.hex(digits - 1)}"


def by(*keys: str, between: str = ":") -> Identity:
    """Ids made of inputs, such as `cluster:addon`."""
    return lambda asked: between.join(asked.text(key) for key in keys)


def address(asked: Asked, *first: int, salt: str = "") -> str:
    """An IPv4 address that starts with the given numbers; the documentation's range 203.0.113.0/24 has no
    more to give."""
    rest = [asked.number(254, f"{salt}{place}") + 1 for place in range(4 - len(first))]
    return ".".join(str(part) for part in (*first, *rest))
