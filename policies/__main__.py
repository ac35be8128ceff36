#!/usr/bin/env python3
"""Starts the pack: as the folder with a standard CLI, as this executable file without a language host."""

import importlib.util
import io
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def load() -> None:
    """Make this folder importable as `policies`, whatever a published copy of it is called.

    The folder itself leaves `sys.path`, so that no module of the pack can hide one of Python's.
    """
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != FOLDER]
    spec = importlib.util.spec_from_file_location(
        "policies", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    if spec is None or spec.loader is None:
        sys.exit(f"the policy pack in {FOLDER} is incomplete: __init__.py is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules["policies"] = module
    spec.loader.exec_module(module)


def unbuffer() -> None:
    """Let the port reach the engine at once: the SDK writes it without a flush (pulumi-policy 1.21.0)."""
    raw = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115 - kept open
    sys.stdout = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)


if __name__ == "__main__":
    load()
    unbuffer()
    from policies.pack import pack

    pack()
