"""The stack's configuration as the engine hands it over, read once into Settings."""

from __future__ import annotations

import pulumi
from pulumi.runtime.config import CONFIG

from specs.checks import examine
from specs.problems import SettingsError
from specs.settings.stack import Settings


def stack_settings() -> Settings:
    """The settings of this stack. Raises pulumi.RunError, which reaches the user as one message, with every
    problem of shape and meaning; nothing has been declared by then. Warnings go to the engine's log.
    """
    settings, findings = examine(CONFIG.get(), pulumi.get_stack())
    if settings is None or findings.problems:
        raise pulumi.RunError(str(SettingsError(findings.problems)))
    for warning in findings.warnings:
        pulumi.log.warn(str(warning))
    return settings
