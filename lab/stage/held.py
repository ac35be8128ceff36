"""A lab holds one stack at a time: pools of two stacks have the same names and another account."""

from pathlib import Path

from lab.control import plane
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.settings import AwsSettings
from specs.names import Names


def refuse_another(state_dir: Path, stack: str) -> None:
    """Raises LabError when the lab in the folder is the account of another stack; a new or bare one is free."""
    if not Layout(state_dir.absolute()).state.exists():
        return
    held = plane.attach(state_dir).settings.aws.cluster
    if held not in (AwsSettings().cluster, Names(stack).cluster):
        raise LabError(
            f"lab: given {state_dir} for the stack {stack}; it holds the cluster {held}; name another folder, or end"
            f" it: `headroom lab down --state {state_dir}`"
        )
