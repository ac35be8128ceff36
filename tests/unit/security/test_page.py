"""The threat model names code and tests that exist, and every policy of the pack by its own name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
PAGES = ("docs/security.md", "docs/upgrades.md")
PATH = re.compile(r"`((?:components|specs|policies|lab|tests|docs)/[\w./-]+)`")


@pytest.mark.parametrize("page", PAGES)
def test_every_file_a_page_names_is_there(page: str) -> None:
    named = PATH.findall((PROJECT / page).read_text(encoding="utf-8"))
    assert len(named) >= 3
    assert [path for path in named if not (PROJECT / path).exists()] == []


def test_every_policy_that_stands_against_a_threat_is_in_the_pack() -> None:
    text = (PROJECT / "docs/security.md").read_text(encoding="utf-8")
    listed = re.findall(r"polic(?:y|ies) ((?:`[a-z-]+`(?:, )?)+)", text)
    named = {name for group in listed for name in re.findall(r"`([a-z-]+)`", group)}
    assert len(named) >= 5
    rules = PROJECT / "policies" / "rules"
    assert [name for name in sorted(named) if not (rules / f"{name.replace('-', '_')}.py").is_file()] == []
