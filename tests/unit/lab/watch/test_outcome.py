"""What a run came to."""

from collections.abc import Sequence

import pytest

from lab.load.ledger import Second
from lab.watch.events import Event
from lab.watch.loads import Loads
from lab.watch.outcome import CLAIMED, DECIDED, READY, Outcome, outcome
from lab.watch.phases import burst_start, phases
from specs.stages import tiers
from tests.unit.lab.fleet.bodies import local
from tests.unit.lab.watch.answers import burst, load, sample

BEGIN = 1010.0
BURST = (Event(at=BEGIN, kind="phase", text="burst"), Event(at=1100.0, kind="phase", text="calm"))


def measured(found: Outcome) -> dict[str, float | None]:
    return {one.label: one.measured for one in found.timings}


def named(events: Sequence[Event]) -> list[tuple[str, float]]:
    return [(phase.name, phase.start) for phase in phases(burst(), events, "llama3-8b")]


def test_seconds_count_from_the_burst_to_desired_to_the_last_claim_and_to_all_ready() -> None:
    found = outcome(burst(), BURST, "llama3-8b")
    assert measured(found) == {DECIDED: 10.0, CLAIMED: 11.0, READY: 50.0}
    assert (found.before, found.reached, found.most_nodes) == (1, 9, 9)


def test_predictions_are_half_a_scrape_half_a_sync_and_the_stages_at_the_labs_speed() -> None:
    settings = local()
    cold = tiers(settings, settings.models[0])[0]
    found = outcome(burst(), BURST, "llama3-8b", settings, factor=0.1)
    predicted = {one.label: one.predicted for one in found.timings}
    assert predicted == {
        DECIDED: 2.5 + 7.5 + 1.5,
        CLAIMED: 2.5 + 7.5 + 1.0,
        READY: pytest.approx(11.5 + 0.1 * cold.start),
    }


def test_a_claim_from_before_the_burst_is_not_the_bursts() -> None:
    quiet = [sample(1000.0 + second, desired=1 if second < 20 else 2) for second in range(0, 40, 2)]
    assert measured(outcome(quiet, BURST[:1], "llama3-8b"))[CLAIMED] is None


def test_replicas_that_never_come_are_not_known_and_not_0() -> None:
    stuck = [one for one in burst() if one.at < 1050]
    assert measured(outcome(stuck, BURST[:1], "llama3-8b"))[READY] is None


def test_a_run_in_which_nothing_rose_has_no_burst() -> None:
    found = outcome([sample(0.0), sample(2.0)], (), "llama3-8b", local())
    assert (found.timings, found.burst_at) == ((), None)


def test_phases_are_those_that_were_named() -> None:
    assert named(BURST) == [("burst", BEGIN), ("calm", 1100.0)]


def test_phases_without_a_name_are_found_in_the_replicas() -> None:
    assert named(()) == [("burst", 1020.0), ("steady", 1060.0), ("scale-down", 1100.0)]


def test_the_burst_is_the_phase_in_which_desired_rose_whatever_its_name() -> None:
    events = [Event(at=1000.0, kind="phase", text="idle"), Event(at=BEGIN, kind="phase", text="50 clients")]
    assert burst_start(burst(), events, "llama3-8b") == BEGIN


def test_loads_begin_at_their_marks_and_add_up() -> None:
    first = load(*(Second(sent=2, first=[0.5]) for _ in range(85)))
    second = load(*(Second(sent=1, first=[3.0]) for _ in range(20)), lost=1)
    loads = Loads.of([first, second], BURST, 1000.0)
    assert loads.starts == (BEGIN, 1100.0)
    assert (loads.sent, loads.completed, loads.lost) == (190, 189, 1)
    assert loads.sent_rate(1050.0) == 2.0
    assert (loads.first_p95(1050.0), loads.first_p95(1115.0)) == (0.5, 3.0)
    assert (loads.sent_rate(1005.0), loads.sent_rate(1140.0)) == (None, None)
    assert [at for at, _ in loads.failures()] == [1103.0]
