"""What Pulumi Cloud is told about each stack: names, path filters, durations."""

from __future__ import annotations

from specs.names import PROJECT
from specs.settings.deployments import DeployedStack, Deployments

_PROGRAM = ("Pulumi.yaml", "__main__.py", "requirements.txt", "components/**", "specs/**", "policies/**")


def path_filters(deployments: Deployments, stack: DeployedStack) -> tuple[str, ...]:
    """Paths of the repository whose change deploys the stack: as stated, or all that the program is made of.

    Another stack's file is not among them, so a change of prod does not touch dev.
    """
    if stack.paths is not None:
        return stack.paths
    prefix = "" if deployments.directory == "." else f"{deployments.directory}/"
    return tuple(f"{prefix}{path}" for path in (*_PROGRAM, f"Pulumi.{stack.name}.yaml"))


def git_ref(stack: DeployedStack) -> str:
    """The branch in full, which no tag of the same name can hide."""
    return f"refs/heads/{stack.branch}"


def duration(seconds: int) -> str:
    """Seconds as Go writes them (time.Duration.String): the provider stores 3600 as 1h0m0s."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    return f"{f'{hours}h' if hours else ''}{f'{minutes}m' if hours or minutes else ''}{left}s"


def group_name(stack: DeployedStack) -> str:
    """The policy group of one environment."""
    return f"{PROJECT}-{stack.name}"
