"""The Pulumi CLI, driven as the Automation API drives it for an inline program."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pulumi.automation import (
    CommandError,
    ConcurrentUpdateError,
    InvalidVersionError,
    LocalWorkspace,
    PulumiCommand,
    StackNotFoundError,
)

from lab.cloud.command import Command
from lab.cloud.outcome import Operation
from lab.cloud.watch import plain

_WORDS: dict[Operation, tuple[str, ...]] = {
    "preview": ("preview",),
    "up": ("up", "--yes", "--skip-preview"),
    "refresh": ("refresh", "--yes", "--skip-preview"),
    "destroy": ("destroy", "--yes", "--skip-preview"),
}


class EngineError(RuntimeError):
    """The Pulumi binary cannot be used; the message says what was given and what is allowed."""


def command(cli: Path, home: Path) -> PulumiCommand:
    """The binary as the Automation API wants it: at `bin/pulumi` below a root, here a link in our own
    folder."""
    if not cli.is_file():
        raise EngineError(
            f"pulumi: given {cli}; allowed the path of the Pulumi CLI; put it on PATH or build the tools"
        )
    link = home / "bin" / "pulumi"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() or link.readlink() != cli.resolve():
        fresh = link.with_name(f".pulumi-{id(link)}")
        fresh.symlink_to(cli.resolve())
        fresh.replace(link)
    try:
        return Command(root=str(home))
    except InvalidVersionError as error:
        raise EngineError(f"pulumi: given {cli}; {error}") from error
    except OSError as error:
        raise EngineError(
            f"pulumi: given {cli}; allowed an executable Pulumi CLI; {error.strerror}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One stack in one workspace. `language` and `events` are the loopback addresses of our two services."""

    workspace: LocalWorkspace
    stack: str
    language: str
    events: str

    def select(self) -> str:
        """Selects the stack, or creates it where the state has none; the reason if neither works."""
        try:
            try:
                self.workspace.select_stack(self.stack)
            except StackNotFoundError:
                self.workspace.create_stack(self.stack)
        except CommandError as error:
            return reason(str(error))
        return ""

    def run(self, operation: Operation, options: Sequence[str]) -> str:
        """Runs the operation; an empty string when it succeeded, else the engine's reason in one line."""
        arguments = [
            *_WORDS[operation],
            *options,
            "--color=never",
            "--suppress-progress",
            "--exec-kind=auto.inline",
            f"--client={self.language}",
            f"--event-log=tcp://{self.events}",
            f"--stack={self.stack}",
        ]
        hidden = {"PULUMI_DEBUG_COMMANDS": "true", "PULUMI_HOME": self.workspace.pulumi_home or ""}
        try:
            self.workspace.pulumi_command.run(
                arguments, self.workspace.work_dir, {**hidden, **self.workspace.env_vars}
            )
        except ConcurrentUpdateError:
            return (
                f"stack: given {self.stack}, which another run uses; allowed one run at a time; wait for it"
            )
        except CommandError as error:
            return reason(str(error))
        return ""


def reason(output: str) -> str:
    """The engine's last error line out of all that the command printed."""
    lines = [plain(line) for line in output.splitlines()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return (
        errors[-1]
        if errors
        else next((line for line in reversed(lines) if line), "the engine gave no reason")
    )
