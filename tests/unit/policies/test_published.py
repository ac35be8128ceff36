"""What Pulumi Cloud is told of the pack."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_the_published_description_is_that_of_the_pack() -> None:
    """A difference is mended by `python -m tests.unit.policies.published`."""
    spec = importlib.util.spec_from_file_location("published", Path(__file__).with_name("published.py"))
    assert spec is not None
    assert spec.loader is not None
    published = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(published)
    assert published.DATA.read_text(encoding="utf-8") == published.text()
