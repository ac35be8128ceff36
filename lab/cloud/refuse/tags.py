"""Tags: 128 and 256 characters, 50 on a resource, no `aws:` of one's own (AWS General Reference,
"Tagging")."""

from collections.abc import Iterator
from typing import cast

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import has_unknown

KEY, VALUE, COUNT = 128, 256, 50


def tags(asked: Asked, account: Account) -> Iterator[Problem]:
    """Tags that AWS does not take."""
    del account
    given = asked.inputs.get("tags")
    if not isinstance(given, dict):
        return
    known = {
        key: value for key, value in cast(dict[str, object], given).items() if not has_unknown([key, value])
    }
    if len(known) > COUNT:
        yield Problem(path="tags", given=f"{len(known)} tags", allowed=f"at most {COUNT}", fix="drop some")
    for key, value in known.items():
        if key.lower().startswith("aws:"):
            yield Problem(
                path="tags",
                given=f"the key {short(key)}",
                allowed="keys without the prefix aws:",
                fix="rename it",
            )
        if not 1 <= len(key) <= KEY:
            yield Problem(
                path="tags", given=f"a key of {len(key)} characters", allowed=f"1 to {KEY}", fix="shorten it"
            )
        if len(str(value)) > VALUE:
            yield Problem(
                path=f"tags.{key}",
                given=f"a value of {len(str(value))} characters",
                allowed=f"at most {VALUE}",
                fix="shorten it",
            )
