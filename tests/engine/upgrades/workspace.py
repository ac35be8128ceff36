"""The engine's own export and import of a stack's state, in the folders of a recorded cloud."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi.automation import Deployment, LocalWorkspace, StackAlreadyExistsError

from lab.cloud import stackfile
from lab.cloud.engine import command


def exported(state: Path, cli: Path, stack: str) -> Mapping[str, Any]:
    """The deployment of a stack, secrets opened (those of a recorded cloud are nobody's)."""
    deployment = workspace(state, cli, stack).export_stack(stack).deployment
    assert deployment is not None, f"{stack} has no state in {state}"
    return deployment


def workspace(state: Path, cli: Path, stack: str) -> LocalWorkspace:
    """The Automation API's view of a stack of a recorded cloud, whose folders are made when absent."""
    for folder in ("home", "backend", f"work/{stack}"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    return LocalWorkspace(
        work_dir=str(state / "work" / stack),
        pulumi_home=str(state / "home"),
        pulumi_command=command(cli, state),
        env_vars={
            "PULUMI_BACKEND_URL": (state / "backend").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        },
    )


def imported(project: Path, state: Path, cli: Path, stack: str, deployment: Mapping[str, Any]) -> None:
    """Make a stack of `project` whose state is this deployment."""
    stackfile.copy(project, stack, state / "work" / stack)
    place = workspace(state, cli, stack)
    try:
        place.create_stack(stack)
    except StackAlreadyExistsError:
        place.select_stack(stack)
    place.import_stack(stack, Deployment(version=3, deployment=dict(deployment)))
