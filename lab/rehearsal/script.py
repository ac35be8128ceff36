"""Plays the phases of a rehearsal against the clock and the cluster, one small step at a time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.text import Text

from lab.load import Load, LoadResult
from lab.rehearsal.phases import Phase, Seen
from lab.watch.figures import Sample


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A phase that is over: how long it took, and whether what it waited for came."""

    phase: Phase
    seconds: float
    reached: bool


@dataclass(kw_only=True)
class Script:
    """`loads` makes the load of a phase; phases with the same callers share one, so that nobody pauses between.

    Drive it with `step` until that is True; `words` is its state for the terminal.
    """

    phases: Sequence[Phase]
    look: Callable[[], Seen]
    """What the newest look at the cluster says of the model."""
    note: Callable[[Phase], object]
    """Told when a phase begins."""
    loads: Callable[[Phase], Load]
    passed: list[Passed] = field(default_factory=list[Passed])
    results: list[LoadResult] = field(default_factory=list[LoadResult])
    _load: Load | None = None
    _begun: float = 0.0
    _stopping: bool = False

    def step(self) -> bool:
        """Does what is due now; True once every phase is over and every request has its answer."""
        if self._stopping:
            return self._stopped()
        if self._current is None:
            return True
        if self._begun == 0.0:
            self._begin(self._current)
            return False
        seconds = time.monotonic() - self._begun
        seen = self.look()
        if self._current.over(seen, seconds):
            self.passed.append(
                Passed(phase=self._current, seconds=seconds, reached=self._current.reached(seen))
            )
            self._begun = 0.0
            self._stopping = not self._goes_on
            if self._stopping and self._load is not None:
                self._load.stop()
        return False

    def close(self) -> None:
        """Gives up what is in flight; for a rehearsal that is interrupted."""
        if self._load is not None:
            self._load.stop(now=True)

    def words(self) -> Sequence[Text]:
        """Phase and load, a line each."""
        if self._load is None:
            return ()
        counts = self._load.counts
        phase = self._current or self.phases[-1]
        lost = Text(f"lost {counts.lost}", style="bold red" if counts.lost else "bold green")
        for cause, count in counts.by_cause.items():
            lost.append(f"  {cause} {count}", style="red")
        doing = "waits for the answers under way" if self._stopping else phase.title
        return (
            Text.assemble((f"{phase.name}: ", "bold"), doing),
            Text.assemble(
                f"requests sent {counts.sent}, in flight {counts.in_flight}, completed {counts.completed}, ",
                lost,
            ),
        )

    @property
    def _current(self) -> Phase | None:
        done = len(self.passed)
        if self._stopping:
            return self.phases[done - 1]
        return self.phases[done] if done < len(self.phases) else None

    @property
    def _goes_on(self) -> bool:
        """Whether the phase that begins now has the callers of the one before it."""
        done = len(self.passed)
        return done < len(self.phases) and _callers(self.phases[done]) == _callers(self.phases[done - 1])

    def _begin(self, phase: Phase) -> None:
        self._begun = time.monotonic()
        self.note(phase)
        if self._load is None:
            self._load = self.loads(phase)
            self._load.start()

    def _stopped(self) -> bool:
        if self._load is not None and self._load.finished:
            self.results.append(self._load.wait())
            self._load = None
            self._stopping = False
            return self._current is None
        return False


def _callers(phase: Phase) -> tuple[int, float]:
    return phase.clients, phase.think


def seen(sample: Sample | None, model: str, pool: str) -> Seen:
    """What a sample says of a model and of its pool's nodes."""
    found = sample.model_named(model) if sample else None
    nodes = next((one.nodes for one in sample.pools if one.name == pool), None) if sample else None
    return Seen(
        desired=found.desired if found else None,
        ready=found.ready if found else None,
        nodes=None if nodes is None else len(nodes),
    )
