"""The runbook's commands that no test can run are at least well formed, and name options that exist."""

import re
import shlex
import subprocess
from typing import Any

import pytest
import typer

from cli.app import app
from tests.lab.runbook.blocks import MARKS, Block, blocks, of_page

BLOCKS = of_page()
EACH = pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line-{block.line}")
COMMAND = re.compile(r"\./headroom ((?:[^&|;#\n]|(?<=\w)#)+)")


def test_every_block_says_where_it_is_run() -> None:
    assert BLOCKS
    assert {block.mark for block in BLOCKS} == set(MARKS)


@EACH
def test_a_block_is_a_shell_script(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@EACH
def test_a_block_names_commands_and_options_of_headroom_that_exist(block: Block) -> None:
    for line in COMMAND.findall(block.script):
        assert not unknown(line), line


@pytest.mark.parametrize("line", ["plan --stacks prod", "plann --stack prod", "weights pull"])
def test_a_command_or_option_that_is_gone_is_found(line: str) -> None:
    assert unknown(line)


def test_blocks_know_their_section_and_what_they_expect() -> None:
    page = "# A\n## B\n```bash lab\ntrue\n# expect: x y\n```\n```yaml\n- a\n```\n"
    (found,) = blocks(page)
    assert (found.section, found.line, found.mark, list(found.expected)) == ("B", 3, "lab", ["x y"])


def unknown(line: str) -> list[str]:
    """Words of a command line of headroom that the program does not know."""
    command: Any = typer.main.get_command(app)  # its groups and parameters are typed in part alone
    words = shlex.split(line)
    while hasattr(command, "commands"):
        if not words or words[0] not in command.commands:
            return words[:1] or ["(nothing)"]
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    return [word for word in words if word.startswith("-") and word.partition("=")[0] not in known]
