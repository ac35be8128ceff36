"""Entry of `python -m cli`: runs the command and turns every failure into one clear line."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import typer

from cli.app import app
from cli.terminal import errors, line
from specs.problems import SettingsError

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

REFUSED, INTERNAL, INTERRUPTED = 2, 1, 130


def main() -> int:
    """Exit status: 0, 1 something failed, 2 refused input, 130 interrupted."""
    try:
        status: object = app(standalone_mode=False, prog_name="headroom")
    except SettingsError as error:
        for problem in error.problems:
            errors.print(line(problem))
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
    except Exception as error:  # noqa: BLE001 - the last resort: no traceback reaches a user
        if f"{type(error).__module__}.{type(error).__qualname__}" in TOLD:
            errors.print(str(error), markup=False, style="red")
            return REFUSED
        if os.environ.get("HEADROOM_DEBUG"):
            traceback.print_exc()
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


if __name__ == "__main__":
    sys.exit(main())
