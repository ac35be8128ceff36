"""The account's vCPU quotas hold the plan's worst case."""

from collections.abc import Iterator

from lab.doctor.finding import STACK, Check, Finding
from lab.doctor.seen import Seen
from specs.settings.stack import Settings


def of_stack(seen: Seen, settings: Settings) -> Iterator[Finding]:
    """One check a quota, as `headroom preflight` has them."""
    del settings
    if seen.quotas is None:
        check = Check("quota", STACK)
        if seen.lab:
            yield check.not_applicable("the lab's nodes are of no account")
        else:
            yield check.unknown("AWS was not asked", "add --aws, with credentials of the account")
        return
    for one in seen.quotas:
        evidence = f"{one.found}; needed {one.needed}"
        yield Finding(one.name, STACK, one.verdict, evidence, one.fix)
