"""The stack's configuration as the engine hands it over, read once into Settings."""

from __future__ import annotations

import pulumi
from pulumi.runtime.config import CONFIG, is_config_secret

from specs.checks import examine
from specs.problems import SettingsError
from specs.sealed import redacted, refused
from specs.settings.stack import Settings


def stack_settings() -> Settings:
    """The settings of this stack. Raises pulumi.RunError, which reaches the user as one message, with every
    problem of shape and meaning; nothing has been declared by then. Warnings go to the engine's log.
    """
    config = CONFIG.get()
    sealed = [key for key in sorted(config) if key.startswith("headroom:") and is_config_secret(key)]
    settings, findings = examine(config)
    problems = [*refused(sealed), *redacted(findings.problems, sealed)]
    if settings is None or problems:
        raise pulumi.RunError(str(SettingsError(problems)))
    for warning in redacted(findings.warnings, sealed):
        pulumi.log.warn(str(warning))
    return settings
