"""The page about a run."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lab.load.ledger import Second
from lab.watch.events import Event
from lab.watch.report import html, write
from tests.unit.lab.fleet.bodies import local
from tests.unit.lab.watch.answers import burst, load, sample

EVENTS = (
    Event(at=1010.0, kind="phase", text="burst"),
    Event(at=1022.0, kind="created", of="inference", text="6 NodeClaims created", value=6),
    Event(at=1024.0, kind="created", of="inference", text="2 NodeClaims created", value=2),
)
LOAD = load(*(Second(sent=2, first=[0.5 if second > 50 else 9.0]) for second in range(90)))


class Nesting(HTMLParser):
    """Fails at an element that is closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(tmp_path: Path) -> None:
    page = write(burst(), EVENTS, LOAD, tmp_path / "new", "A burst", settings=local(), factor=0.1)
    text = page.read_text(encoding="utf-8")
    parser = Nesting()
    parser.feed(text)
    assert parser.open == []
    assert not re.search(r"(src|href)=|url\(|@import", text)


def test_all_charts_share_one_time_axis_and_shade_the_phases() -> None:
    text = html(burst(), EVENTS, LOAD, "A burst", settings=local())
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert titles == [
        "Requests a second",
        "Replicas and nodes",
        "Waiting requests",
        "p95 time to first token, seconds",
        "Dollars an hour",
    ]
    axes = re.findall(r'<div class="x">(.*?)</div>', text)
    assert len(set(axes)) == 1
    assert "<span>3:00</span>" in axes[0]
    assert text.count(">burst</span></div>") == len(titles)


def test_figures_stand_beside_their_predictions() -> None:
    text = html(burst(), EVENTS, LOAD, "A burst", settings=local(), factor=0.1)
    assert "<td>9 are ready</td><td>50.0 s</td><td>" in text
    assert "<td>desired is 9</td><td>10.0 s</td><td>11.5 s</td><td>0.87</td>" in text
    assert "each 0.1 of the plan" in text


def test_a_lost_request_is_told_with_its_cause_and_its_text_is_no_markup() -> None:
    text = html(burst(), EVENTS, load(Second(sent=5), lost=1, detail="<script>x</script>"), "<b>t</b>")
    assert "<td>reset-mid-stream</td><td>1</td><td>the connection ended inside a stream</td>" in text
    assert "<script>" not in text
    assert "<b>t</b>" not in text


def test_without_a_lost_request_that_is_said() -> None:
    assert "Every one of 180 requests has its answer" in html(burst(), EVENTS, LOAD, "A burst")


def test_a_run_without_load_events_or_settings_has_a_page() -> None:
    text = html(burst(), (), None, "Watched")
    assert "Replicas and nodes" in text
    assert "lost" not in text


def test_a_run_of_one_sample_in_which_nothing_is_known_has_a_page() -> None:
    nothing = sample(0.0, problems={"prometheus": "away", "kubernetes": "away"})
    assert "there was no burst" in html([nothing], (), None, "Blind")


def test_events_of_one_wave_are_one_line() -> None:
    assert "8 NodeClaims created" in html(burst(), EVENTS, LOAD, "A burst")


def test_a_report_without_a_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        write([], (), None, tmp_path, "x")
