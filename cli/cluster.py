"""The cluster that a command looks at, where it is no lab."""

from __future__ import annotations

import os
from pathlib import Path

from specs.problems import Problem, SettingsError

_DEFAULT = "~/.kube/config"


def kubeconfig() -> Path:
    """What kubectl reads: KUBECONFIG, else its default."""
    return Path(os.environ.get("KUBECONFIG") or _DEFAULT).expanduser()


def no_stack(option: str) -> SettingsError:
    """The error for a context by `option` and no stack: a cluster does not say what it is to run."""
    given = f"{option} without a stack"
    return SettingsError(
        [Problem("command line", given, "the stack that runs there", "add e.g. --stack prod")]
    )
