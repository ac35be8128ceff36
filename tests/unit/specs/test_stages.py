"""Seconds from a burst to a new replica."""

from __future__ import annotations

from typing import Any

import pytest

from specs.stages import lead_seconds, tiers
from tests.unit.specs.stack import only, settings


@pytest.mark.parametrize(("spares", "tier"), [(0, "cold"), (1, "warm")])
@pytest.mark.parametrize("backend", ["s3", "hub", "image"])
def test_the_lead_time_is_the_start_of_the_tier_the_stack_is_in(backend: str, spares: int, tier: str) -> None:
    """A larger image takes longer to pull in the lead time as in the tier."""
    sections: dict[str, Any] = {"weights": {"backend": backend}}
    found = settings({"scaling": {"warmSpares": spares}}, **sections)
    [one] = [entry for entry in tiers(found, only(found)) if entry.name == tier]
    assert lead_seconds(found, only(found)) == one.start
