"""The shipped stacks, rendered once for all tests that look at them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lab.render import Declared, render
from specs.settings.source import load, stack_path

PROJECT = Path(__file__).resolve().parents[3]


@cache
def declared(stack: str) -> tuple[Declared, ...]:
    """Everything that a shipped stack declares."""
    return tuple(render(PROJECT / "__main__.py", stack, load(stack_path(PROJECT, stack)).config))


def of(stack: str, kind: str) -> dict[str, Mapping[str, Any]]:
    """Inputs by logical name of one type."""
    return {entry.name: entry.inputs for entry in declared(stack) if entry.type == kind}
