"""The user's own vLLM arguments (`extraArgs`) taken apart."""

from __future__ import annotations

import re

from specs.settings.model import Model

PARALLEL = {"--tensor-parallel-size": "tp", "-tp": "tp", "--pipeline-parallel-size": "pp", "-pp": "pp"}


def arguments(model: Model) -> dict[str, str]:
    """extraArgs as a map; underscores and hyphens are one to vLLM, and `--x=1` is `--x 1`."""
    found: dict[str, str] = {}
    pending = ""
    for word in model.extra_args:
        if pending and not word.startswith("--") and word not in PARALLEL:
            found[pending], pending = word, ""
            continue
        name, has_value, value = word.partition("=")
        joined = re.fullmatch(r"(-tp|-pp|-dp)(\d+)", word)
        if joined:
            name, has_value, value = joined[1], "=", joined[2]
        if name.startswith("--"):
            name = name.replace("_", "-")
        pending = "" if has_value else name
        found[name] = value
    return found
