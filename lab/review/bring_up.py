"""Brings a stack of another checkout up, in a process of its own: `python -P -m lab.review.bring_up`.

The recorded cloud is this checkout's on both sides, the program is the other one's: what differs afterwards is what the
program and its configuration say. This module must import nothing of `specs`, which is to come from the other checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lab.cloud.session import RecordedCloud

NOT_UP = 3


def main(project: str, state: str, cli: str, stack: str) -> int:
    """0 when the stack is up; NOT_UP with the reasons on standard error, one a line."""
    with RecordedCloud(Path(project), Path(state), Path(cli)) as cloud:
        outcome = cloud.up(stack)
    for problem in outcome.problems:
        print(problem, file=sys.stderr)  # noqa: T201 - the caller reads it
    return 0 if outcome.ok else NOT_UP


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
