"""The report: one page, whole in itself, legible in light, dark and small."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from planner.generator import generate
from planner.replay import run
from planner.report import write
from planner.report.chart import Line, Span, bands, clock, nice_top, plot, thinned
from planner.traces import Trace
from tests.unit.specs.stack import settings

TRACE = generate("bursty", 0.5, 4.0, seed=2)
VOID = {"meta"}


class Nesting(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = settings()
    results = [run(found, TRACE, policy=policy) for policy in ("ours", "published", "clairvoyant")]
    return write(results, tmp_path_factory.mktemp("report"), advice="Keep two replicas.")


def test_the_page_needs_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?://|url\(|@import|<script|<link|<img", text)


def test_the_page_is_well_formed(page: Path) -> None:
    nesting = Nesting()
    nesting.feed(page.read_text(encoding="utf-8"))
    assert nesting.open == []
    assert nesting.seen.count("svg") == 4
    assert nesting.seen.count("table") == 1


def test_the_page_tells_the_figures_the_advice_and_the_violations(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for words in ("node-hours", "Keep two replicas.", "published", "clairvoyant", 'class="violation"'):
        assert words in text


def test_both_colour_schemes_and_small_screens_are_styled(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for words in ("prefers-color-scheme: dark", "max-width: 640px", 'name="viewport"'):
        assert words in text


def test_names_from_files_are_escaped(tmp_path: Path) -> None:
    trace = Trace("<script>alert(1)</script>", TRACE.duration, rates=TRACE.rates, bin_seconds=60)
    text = write([run(settings(), trace)], tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text


def test_equal_results_give_the_same_page(tmp_path: Path) -> None:
    pages = [write([run(settings(), TRACE)], tmp_path / name).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]


def test_a_report_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        write([], tmp_path)


def test_a_thinned_line_keeps_its_peaks() -> None:
    values = [0.0] * 5000
    values[1234] = 9.0
    points = thinned(list(map(float, range(5000))), values)
    assert len(points) <= 700
    assert max(value for _, value in points) == 9.0


def test_spans_in_which_a_figure_grows_are_joined() -> None:
    assert bands([0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 2, 3]) == [(1, 3), (4, 5)]


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.7, 0.8), (3, 4), (9.1, 10), (10, 10), (11, 20), (431, 500)]
)
def test_an_axis_ends_at_a_round_number(value: float, top: float) -> None:
    assert nice_top(value) == pytest.approx(top)


def test_moments_are_told_in_days_hours_and_minutes() -> None:
    assert [clock(0), clock(3660), clock(90_000)] == ["00:00", "01:01", "day 1 01:00"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1200, 1), (390, 0)])
def test_a_browser_draws_the_page_without_sideways_scrolling(page: Path, width: int, scheme: int) -> None:
    """The page is probed through its own title: a copy with a line of script that reports its width."""
    probe = page.with_name(f"probe-{width}.html")
    script = (
        "<script>document.title=[innerWidth,document.documentElement.scrollWidth,"
        "document.querySelectorAll('path').length]</script>"
    )
    probe.write_text(
        page.read_text(encoding="utf-8").replace("</main>", "</main>" + script), encoding="utf-8"
    )
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            f"--window-size={width},900", f"--blink-settings=preferredColorScheme={scheme}",
            f"--user-data-dir={page.parent / 'profile'}", probe.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(\d+),(\d+),(\d+)</title>", done.stdout)
    assert title is not None
    inner, scrolled, lines = map(int, title.groups())
    assert scrolled <= inner
    assert lines == 12


def test_a_named_stretch_is_shaded_and_written_above_the_plot() -> None:
    drawn = plot(
        "x", (0.0, 50.0), 100.0, (Line("a", "ready", (1.0, 2.0)),), spans=(Span("burst", 25.0, 75.0),)
    )
    assert '<span style="left:25.00%;width:50.00%">burst</span>' in drawn
    assert 'class="span tone0" x="250.0" y="0" width="500.0"' in drawn


def test_moments_below_a_plot_are_written_as_the_caller_wants() -> None:
    line = Line("a", "ready", (1.0, 2.0))
    assert "<span>25 s</span>" in plot("x", (0.0, 50.0), 100.0, (line,), axis=lambda at: f"{at:.0f} s")
