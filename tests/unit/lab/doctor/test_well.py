"""A stack that is well passes every check."""

from lab.doctor.finding import worst
from tests.unit.lab.doctor.well import World


def test_all_is_well() -> None:
    found = World().examined()
    assert [one for one in found if one.verdict in ("fail", "unknown")] == []
    assert worst(found) == "pass"


def test_every_check_stands_once_and_says_what_it_rests_on() -> None:
    found = World().examined()
    assert len({(one.of, one.check) for one in found}) == len(found)
    assert all(one.evidence for one in found)
