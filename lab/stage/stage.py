"""Brings a stack of the project up on a lab, and keeps it there while a rehearsal or a test acts on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import tools
from lab.cloud.outcome import OnEvent, Outcome
from lab.cloud.pack import PolicyPack
from lab.cloud.session import RecordedCloud
from lab.control import launches, plane
from lab.control.errors import LabError
from lab.control.parts import registry
from lab.control.plane import Plane
from lab.control.settings import LabSettings
from lab.fleet.component import tell
from lab.fleet.settings import HANG_SHARE, of_stack
from lab.stage import project as staged
from lab.stage.aws import aws_settings, feature_gates
from specs import checks
from specs.problems import SettingsError
from specs.settings.stack import Settings
from specs.stages import tiers

PROJECT = Path(__file__).resolve().parents[2]
_FOLDER = "stack"

Step = Callable[[str], None]
"""Told in a few words what is being done."""


def quiet(step: str) -> None:
    """A progress that shows nothing."""
    del step


@dataclass(kw_only=True)
class Stage:
    """A stack on a lab. `factor` multiplies the start-up seconds of nodes, images, weights and engines.
    `policies` is the policy pack's configuration; None takes the stack's own.
    """

    plane: Plane
    stack: str
    settings: Settings
    factor: float
    project: Path = PROJECT
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hang_share: float = HANG_SHARE
    policies: Path | None = None

    def up(self, overrides: Mapping[str, Any] | None = None, *, on_event: OnEvent | None = None) -> Outcome:
        """`pulumi up` of the stack with its policy pack. New overrides replace the earlier ones.

        Raises SettingsError when the stack file with the overrides is refused.
        """
        if overrides is not None:
            self.overrides = overrides
        config = staged.configuration(self.project, self.stack, self._with_lab())
        self.settings = _accepted(config)
        self._tell_fleet()
        staged.write(self.project, self.stack, config, self._home / "project")
        with self._cloud() as cloud:
            return cloud.up(self.stack, pack=self._pack(), on_event=on_event)

    def destroy(self, *, exclude_protected: bool = False, on_event: OnEvent | None = None) -> Outcome:
        """`pulumi destroy` of the stack."""
        with self._cloud() as cloud:
            return cloud.destroy(self.stack, exclude_protected=exclude_protected, on_event=on_event)

    def close(self) -> list[str]:
        """Ends the lab and all that it held; the names of what it ended."""
        return plane.down(self.plane.state_dir)

    @property
    def _home(self) -> Path:
        return self.plane.state_dir / _FOLDER

    def _with_lab(self) -> Mapping[str, Any]:
        from_lab = {"headroom:platform": {"prometheus": {"address": self.plane.url("prometheus")}}}
        return staged.merged(self.overrides, from_lab)

    def _tell_fleet(self) -> None:
        tell(self.plane, of_stack(self.settings, factor=self.factor, hang_share=self.hang_share))
        launches.write(self.plane.state_dir, seconds=launch_seconds(self.settings) * self.factor)

    def _cloud(self) -> RecordedCloud:
        found = tools.ensure(["pulumi", "pulumi-resource-kubernetes"])
        return RecordedCloud(
            self._home / "project",
            self._home / "engine",
            found["pulumi"],
            main=self.project / "__main__.py",
            kubeconfig=self.plane.kubeconfig,
            kubernetes=found["pulumi-resource-kubernetes"],
        )

    def _pack(self) -> PolicyPack:
        folder = self.project / "policies"
        config = self.policies or folder / f"{self.stack}.json"
        return PolicyPack(path=folder, config=config if config.is_file() else None)


def open_stage(
    state_dir: Path,
    stack: str = "local",
    *,
    project: Path = PROJECT,
    factor: float = 1.0,
    overrides: Mapping[str, Any] | None = None,
    lab: LabSettings | None = None,
    hang_share: float = HANG_SHARE,
    policies: Path | None = None,
    progress: Step = quiet,
    tools_progress: tools.Progress | None = None,
) -> Stage:
    """Brings a whole lab up for the stack, with the fleet, and returns before any `up` of the stack.

    The lab's sync, scrape and account follow the stack's own settings unless `lab` is given. Raises LabError,
    tools.ToolError, and SettingsError for a stack that is refused.
    """
    wanted = overrides or {}
    settings = _accepted(staged.configuration(project, stack, wanted))
    chosen = lab or lab_settings(settings, stack, factor=factor)
    made = plane.up(
        state_dir,
        registry.FULL,
        settings=chosen,
        progress=lambda name, what: progress(f"{name}: {what}"),
        tools_progress=tools_progress,
    )
    return Stage(
        plane=made,
        stack=stack,
        settings=settings,
        factor=factor,
        project=project,
        overrides=wanted,
        hang_share=hang_share,
        policies=policies,
    )


def lab_settings(settings: Settings, stack: str, *, factor: float = 1.0) -> LabSettings:
    """The lab that a stack expects: its sync and scrape intervals, its account, its nodes' launch time."""
    return LabSettings(
        hpa_sync_seconds=settings.cluster.hpa_sync_seconds,
        scrape_seconds=settings.platform.prometheus.scrape_seconds,
        launch_seconds=launch_seconds(settings) * factor,
        system_nodes=settings.cluster.system_nodes.min,
        feature_gates=feature_gates(settings, stack),
        aws=aws_settings(settings, stack),
    )


def launch_seconds(settings: Settings) -> float:
    """Seconds from a launch to the node's registration: the plan's own for a cold node."""
    nodes = [tiers(settings, model)[0].node for model in settings.active_models]
    if not nodes:
        raise LabError(
            "The stack has no enabled model: there is nothing to rehearse. Enable one in the stack file."
        )
    return max(nodes)


def _accepted(config: Mapping[str, Any]) -> Settings:
    settings, findings = checks.examine(config)
    if settings is None or findings.problems:
        raise SettingsError(findings.problems)
    return settings
