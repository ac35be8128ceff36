"""Brings a stack up with the program and the recorded cloud of the tree that PYTHONPATH names.

Started by `record` as a script, so that not a module of this tree is loaded: `bring_up.py TREE STATE CLI STACK`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lab.cloud.session import RecordedCloud


def main(tree: str, state: str, cli: str, stack: str) -> None:
    """Exits with the reasons when the stack does not come up."""
    with RecordedCloud(Path(tree), Path(state), Path(cli)) as cloud:
        outcome = cloud.up(stack)
    if not outcome.ok:
        sys.exit("\n".join(outcome.problems) or outcome.status)


if __name__ == "__main__":
    main(*sys.argv[1:])
