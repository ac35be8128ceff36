"""Runs a project's stacks through the real Pulumi engine over the recorded cloud."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pulumi.automation import LocalWorkspace

from lab.cloud import pack as policy
from lab.cloud import stackfile
from lab.cloud.engine import Engine, command
from lab.cloud.journal import Journal
from lab.cloud.language import InlineLanguage, speaking
from lab.cloud.locks import alive, release_dead
from lab.cloud.outcome import Diagnostic, OnEvent, Operation, Outcome, Status
from lab.cloud.pack import PolicyPack
from lab.cloud.program import Program
from lab.cloud.providers import Answers, providers
from lab.cloud.servers import serving
from lab.cloud.watch import EventStream, listening

_ENVIRONMENT = {
    "PULUMI_CONFIG_PASSPHRASE": "",
    "PULUMI_SKIP_UPDATE_CHECK": "true",
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
}

_ONE_CHECKPOINT = {"PULUMI_SKIP_CHECKPOINTS": "true"}
"""The engine writes its state once, at the end, instead of after each resource: with that, even a preview takes time in
the square of the resources (pkg/v3/backend/snapshot.go, saveSnapshot). A killed run forgets what it made, and nothing
that was made is real; not so when objects go to an API server."""


class RecordedCloud:
    """One project's stacks over the recorded cloud.

    `project` holds Pulumi.yaml, the stack files and `main` (`__main__.py` unless named); `state` is a folder
    of ours for the engine's state and home, `cli` the Pulumi binary. With a `kubeconfig`, Kubernetes objects
    go to that API server through the real provider binary `kubernetes`; Helm releases are recorded always.

    Raises EngineError (no usable CLI), StackFileError and PolicyPackError, each with one clear line. What
    goes wrong while an operation runs is in its Outcome.
    """

    def __init__(
        self,
        project: Path,
        state: Path,
        cli: Path,
        *,
        main: Path | None = None,
        kubeconfig: Path | None = None,
        kubernetes: Path | None = None,
    ) -> None:
        self._project = project.resolve()
        self.state = state.resolve()
        self._main = (main or project / "__main__.py").resolve()
        self._cli = cli
        self._answers = Answers(kubeconfig=kubeconfig, kubernetes=kubernetes)

    def __enter__(self) -> Self:
        for folder in ("home", "backend", "work"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        self._command = command(self._cli, self.state)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """State stays, for the next run to compare with; every process and port is per operation."""

    def preview(
        self, stack: str, *, pack: PolicyPack | None = None, on_event: OnEvent | None = None
    ) -> Outcome:
        """What `up` would do. Every refusal of the cloud is collected, none stops the preview."""
        return self._run("preview", stack, pack, on_event)

    def up(self, stack: str, *, pack: PolicyPack | None = None, on_event: OnEvent | None = None) -> Outcome:
        """Brings the stack to what the program declares; the first refusal stops it before the resource is
        made."""
        return self._run("up", stack, pack, on_event)

    def refresh(self, stack: str, *, on_event: OnEvent | None = None) -> Outcome:
        """Asks the recorded cloud for each resource; it answers with what the state holds."""
        return self._run("refresh", stack, None, on_event)

    def destroy(
        self, stack: str, *, exclude_protected: bool = False, on_event: OnEvent | None = None
    ) -> Outcome:
        """Deletes every resource in the order of the graph. The stack itself and its settings stay.

        The engine refuses to delete a protected resource and does not begin; with `exclude_protected` it leaves
        those, and what they need, and deletes the rest.
        """
        kept = ["--exclude-protected"] if exclude_protected else []
        return self._run("destroy", stack, None, on_event, kept)

    def _run(
        self,
        operation: Operation,
        name: str,
        pack: PolicyPack | None,
        on_event: OnEvent | None,
        more: Sequence[str] = (),
    ) -> Outcome:
        work = self.state / "work" / name
        notes = stackfile.copy(self._project, name, work)
        options = [*_pack_options(pack, work), *more]
        journal = Journal()
        events = EventStream(on_event)
        begun = time.monotonic()
        language = InlineLanguage(Program(self._main))
        with (
            providers(self._answers, journal, collecting=operation == "preview") as recorded,
            serving(recorded) as attached,
            speaking(language) as spoken,
            listening(events) as heard,
            _scratch(self.state / "tmp") as scratch,
        ):
            workspace = LocalWorkspace(
                work_dir=str(work),
                pulumi_home=str(self.state / "home"),
                env_vars=self._environment(attached, scratch),
                pulumi_command=self._command,
            )
            engine = Engine(workspace=workspace, stack=name, language=spoken, events=heard)
            release_dead(self.state / "backend", name)
            failure = engine.select() or engine.run(operation, options)
        diagnostics = [
            Diagnostic(severity="warning", message=note, urn="") for note in (*notes, *journal.notes)
        ]
        diagnostics += events.diagnostics
        status = _status(failure, journal, events)
        if status == "failed" and not any(d.severity == "error" for d in diagnostics):
            diagnostics.append(Diagnostic(severity="error", message=failure, urn=""))
        return Outcome(
            operation=operation,
            stack=name,
            status=status,
            changes=events.changes,
            steps=events.steps,
            violations=tuple(events.violations),
            diagnostics=tuple(diagnostics),
            refusals=journal.refusals,
            calls=journal.calls,
            outputs=events.outputs,
            seconds=time.monotonic() - begun,
        )

    def _environment(self, attached: str, scratch: Path) -> dict[str, str]:
        return {
            **_ENVIRONMENT,
            **(_ONE_CHECKPOINT if self._answers.kubeconfig is None else {}),
            "PULUMI_BACKEND_URL": (self.state / "backend").as_uri(),
            "PULUMI_DEBUG_PROVIDERS": attached,
            "KUBECONFIG": os.devnull,
            "TMPDIR": str(scratch),
        }


@contextlib.contextmanager
def _scratch(folder: Path) -> Generator[Path]:
    """A folder for what the CLI and the pack leave behind; a killed run's goes with the next one."""
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        if not alive(int(left.name.partition("-")[0])):
            shutil.rmtree(left, ignore_errors=True)
    own = tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder)
    try:
        yield Path(own)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _pack_options(pack: PolicyPack | None, work: Path) -> list[str]:
    if pack is None:
        return []
    options = ["--policy-pack", str(policy.executable(pack, work / "policy"))]
    if pack.config is not None:
        options += ["--policy-pack-config", str(pack.config.resolve())]
    return options


def _status(failure: str, journal: Journal, events: EventStream) -> Status:
    if journal.refusals:
        return "refused"
    if not failure:
        return "succeeded"
    # After a violation the engine adds "preview failed" or "update failed": no failure of its own.
    errors = [
        diagnostic
        for diagnostic in events.diagnostics
        if diagnostic.severity == "error" and not diagnostic.message.strip().endswith("failed")
    ]
    if not errors and any(violation.level == "mandatory" for violation in events.violations):
        return "violated"
    return "failed"
