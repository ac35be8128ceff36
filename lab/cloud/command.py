"""The Pulumi CLI as one process tree that is ended as a whole.

The Automation API's own command shares our process group: Ctrl-C reaches the CLI, the policy pack and us at once, the
pack dies in its own words, and threads that read the closed pipes print a traceback each. Here the CLI leads a session
of its own, which every plugin that it starts belongs to (they have process groups of their own).
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping

import psutil
from pulumi.automation import CommandResult, PulumiCommand
from pulumi.automation.errors import create_command_error

CANCEL_SECONDS = 10.0
"""The engine finishes what it is at when it is asked to stop; then it is not asked any more."""


class Command(PulumiCommand):
    """Runs the CLI; whatever ends the run ends all that it started."""

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], object] | None = None,
        on_error: Callable[[str], object] | None = None,
    ) -> CommandResult:
        """As the Automation API's: raises CommandError when the CLI fails. Nobody here listens line by line."""
        if on_output is not None or on_error is not None:
            raise NotImplementedError("output is handed over at the end")
        process = subprocess.Popen(
            [self.command, "--non-interactive", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **additional_env, "PULUMI_AUTOMATION_API": "true"},
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate()
        except BaseException:
            _cancel(process)
            raise
        finally:
            _end_session(process.pid)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        result = CommandResult(stdout=stdout, stderr=stderr, code=process.returncode)
        if result.code != 0:
            raise create_command_error(result)
        return result


def _cancel(process: subprocess.Popen[str]) -> None:
    """Asks the engine to stop, as Ctrl-C does, and reads what it still has to say: a full pipe would hold it."""
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.communicate(timeout=CANCEL_SECONDS)
        return
    process.kill()
    process.wait()


def _end_session(leader: int) -> None:
    for left in list(_members(leader)):
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()


def _members(leader: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == leader:
                yield process
