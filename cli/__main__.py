"""Entry of `python -m cli`: runs the command and turns every failure into one clear line."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

REFUSED, INTERNAL, INTERRUPTED, TERMINATED = 2, 1, 130, 143


def _leave(number: int, frame: FrameType | None) -> None:
    del frame
    sys.exit(INTERRUPTED if number == signal.SIGINT else TERMINATED)


if __name__ == "__main__":  # Ctrl-C while the commands load, a second or more, is no traceback either
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)  # for good: what a command started ends with it

import typer  # noqa: E402 - see above

from cli.app import app  # noqa: E402
from cli.terminal import errors, tell  # noqa: E402
from specs.problems import SettingsError  # noqa: E402

# Errors that already say what was given, what is allowed and the way out, by the room that raises them: the
# rooms themselves are imported only by the commands that need them.
TOLD = {
    "lab.cloud.engine.EngineError",
    "lab.cloud.kubernetes.forward.KubernetesStartError",
    "lab.cloud.pack.PolicyPackError",
    "lab.cloud.stackfile.StackFileError",
    "lab.control.errors.LabError",
    "lab.tools.errors.ToolError",
}


def main() -> int:
    """Exit status: 0, 1 something failed, 2 refused input, 130 interrupted, 143 terminated."""
    try:
        status: object = app(standalone_mode=False, prog_name="headroom")
    except SettingsError as error:
        tell(error.problems)
        return REFUSED
    except typer.TyperException as error:
        if error.format_message():  # empty after the help page that a bare `headroom` prints
            errors.print(
                f"headroom: {error.format_message().rstrip('.')}; see `headroom --help`", markup=False
            )
        return REFUSED
    except (KeyboardInterrupt, typer.Abort):
        errors.print("headroom: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`headroom render | head`); nothing is left to tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # A full disk, a closed output: the machine's doing, neither the program's nor the input's.
        where = f" ({error.filename})" if error.filename else ""
        _told(error)
        errors.print(f"headroom: {error.strerror or error}{where}", markup=False)
        return INTERNAL
    except Exception as error:  # noqa: BLE001 - the last resort: no traceback reaches a user
        if f"{type(error).__module__}.{type(error).__qualname__}" in TOLD:
            errors.print(str(error), markup=False, style="red")
            return REFUSED
        _told(error)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        errors.print(
            f"headroom: internal error: {type(error).__name__}: {error} ({where}); HEADROOM_DEBUG=1 shows more",
            markup=False,
        )
        return INTERNAL
    if status == INTERRUPTED:
        errors.print("headroom: interrupted")
    return status if isinstance(status, int) else 0


def _told(error: Exception) -> None:
    if os.environ.get("HEADROOM_DEBUG"):
        traceback.print_exception(error)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
