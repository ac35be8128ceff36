"""What a person sees."""

import io

import pytest
from rich.console import Console

from lab.tools import Display, Lines
from lab.tools.progress import span


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (385, "6 min 25 s")]
)
def test_a_duration_reads_as_people_say_it(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_a_log_gets_one_line_at_the_start_and_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    lines.begin("pulumi", 385)
    lines.tick("pulumi", 1)
    lines.waiting("pulumi", "42")
    lines.waiting("pulumi", "42")
    lines.done("pulumi", 300)
    assert capsys.readouterr().err.splitlines() == [
        "building pulumi (about 6 min 25 s)",
        "waiting for pulumi: process 42 is building it",
        "built pulumi in 5 min 00 s",
    ]


def test_the_table_shows_what_is_built_and_how_long_it_should_still_take() -> None:
    out = io.StringIO()
    with Display(["pulumi", "etcd"], Console(file=out, force_terminal=True, width=100)) as display:
        display.begin("pulumi", 100)
        display.tick("pulumi", 40)
    assert "about 1 min 00 s left" in out.getvalue()
    assert "waits its turn" in out.getvalue()
