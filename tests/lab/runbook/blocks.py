"""The fenced commands of docs/runbook.md, in the order of the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[3]
PAGE: Final = PROJECT / "docs" / "runbook.md"
MARKS: Final = ("lab", "once", "aws")
"""Run by the lab's test; run by hand; needs an account."""


@dataclass(frozen=True)
class Block:
    """`section` is the heading above it, `line` where its fence stands, `script` what is typed."""

    section: str
    line: int
    mark: str
    script: str

    @property
    def expected(self) -> Sequence[str]:
        """Texts that its output must hold."""
        return re.findall(r"^# expect: (.+)$", self.script, re.MULTILINE)


def blocks(page: str) -> Sequence[Block]:
    """Every fence of the page that begins with ```bash."""
    found: list[Block] = []
    section, begun, mark, body = "", 0, "", list[str]()
    for number, line in enumerate(page.splitlines(), 1):
        if begun and line == "```":
            found.append(Block(section, begun, mark, "\n".join(body) + "\n"))
            begun = 0
        elif begun:
            body.append(line)
        elif line.startswith("```bash"):
            begun, mark, body = number, line.removeprefix("```bash").strip(), []
        elif line.startswith("#"):
            section = line.lstrip("# ")
    return found


def of_page() -> Sequence[Block]:
    """Those of the project's page."""
    return blocks(PAGE.read_text(encoding="utf-8"))
