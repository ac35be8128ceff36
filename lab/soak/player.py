"""Plays a plan in a thread of its own, under a load that goes on, and closes the books at its end."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rich.text import Text

from lab.load import Load, LoadResult
from lab.soak.actions import Action
from lab.soak.plan import Plan
from lab.soak.stagehand import Done

ANSWER_SECONDS: Final = 180.0
"""What the last requests get to be answered once nothing more is sent."""
BREATH_SECONDS: Final = 4.0
"""After an action that took longer than planned the next one waits so long: each shows what it does alone."""
_LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Acted:
    """An action that was carried out; ``begun`` by the clock (seconds of the epoch), ``took`` in seconds."""

    action: Action
    begun: float
    took: float
    done: Done


class Hand(Protocol):
    """Who acts."""

    loads: list[Load]

    def perform(self, action: Action) -> Done:
        """Carries one action out."""
        ...

    def unwell(self) -> str | None:
        """What is not well in the end."""
        ...


class Player:
    """``start`` begins; ``finished`` is True when all is played and answered, or given up after ``stop``."""

    def __init__(
        self,
        plan: Plan,
        hand: Hand,
        background: Sequence[Load],
        note: Callable[[str], object],
        *,
        breath: float = BREATH_SECONDS,
    ) -> None:
        self.acted: list[Acted] = []
        self.problems: list[str] = []
        self.results: list[LoadResult] = []
        self.interrupted = False
        self.seconds = 0.0
        self._plan = plan
        self._hand = hand
        self._background = background
        self._note = note
        self._breath = breath
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._doing = "begins"

    @property
    def finished(self) -> bool:
        """Whether it is over."""
        return self._ended.is_set()

    @property
    def stopping(self) -> bool:
        """Whether it was told to end."""
        return self._stopping.is_set()

    def start(self) -> None:
        """Returns at once."""
        for load in self._background:
            load.start()
        threading.Thread(target=self._run, name="soak", daemon=True).start()

    def stop(self, seconds: float) -> bool:
        """Ends it before its time and gives up what is in flight; whether it ended within so many seconds."""
        self.interrupted = not self.finished
        self._stopping.set()
        for load in self._loads:
            load.stop(now=True)
        return self._ended.wait(seconds)

    def words(self) -> Sequence[Text]:
        """Where it is and what became of the requests, a line each."""
        counts = [load.counts for load in self._loads]
        lost = sum(one.lost for one in counts)
        return (
            Text(
                f"soak, seed {self._plan.seed}: {len(self.acted)} of {len(self._plan.actions)} done; {self._doing}"
            ),
            Text(
                f"requests sent {sum(one.sent for one in counts)}, in flight {sum(one.in_flight for one in counts)},"
                f" completed {sum(one.completed for one in counts)}, lost {lost} (with what died or not: at the end)"
            ),
        )

    @property
    def _loads(self) -> list[Load]:
        return [*self._background, *self._hand.loads]

    def _run(self) -> None:
        begun = time.monotonic()
        end, free = begun + self._plan.minutes * 60, begun
        try:
            for action in self._plan.actions:
                self._doing = f"next: {action.words}"
                self._until(max(begun + action.at, free))
                if self._stopping.is_set() or time.monotonic() >= end:
                    break
                self._act(action)
                free = time.monotonic() + self._breath
            self._doing = "nothing more happens"
            self._until(end)
            self._close()
        except Exception as error:  # noqa: BLE001 - told as a problem of the soak; the thread has no caller
            self.problems.append(f"the soak broke off: {type(error).__name__}: {error}")
        finally:
            self.seconds = time.monotonic() - begun
            self._ended.set()

    def _act(self, action: Action) -> None:
        self._doing = action.words
        self._note(action.words)
        clock, begun = time.time(), time.monotonic()
        try:
            done = self._hand.perform(action)
        except Exception as error:  # noqa: BLE001 - whatever an action breaks is what a soak looks for
            done = Done(problem=f"{type(error).__name__}: {error}")
        if self._stopping.is_set() and done.problem:
            done = Done(note="interrupted", skipped=True)
        self.acted.append(Acted(action=action, begun=clock, took=time.monotonic() - begun, done=done))
        if done.problem:
            self.problems.append(f"{action.words}: {done.problem}")
        if done.note:
            self._note(done.note)

    def _close(self) -> None:
        loads = self._loads
        for load in loads:
            load.stop(now=self._stopping.is_set())
        self._doing = "waits for the last answers"
        deadline = time.monotonic() + ANSWER_SECONDS
        while not all(load.finished for load in loads) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        for load in loads:
            load.stop(now=True)
        for load in loads:
            try:
                self.results.append(load.wait(ANSWER_SECONDS))
            except Exception as error:  # noqa: BLE001 - a load that found no router, say; the others still count
                self.problems.append(f"load on {load.model}: {type(error).__name__}: {error}")
        if not self._stopping.is_set() and (problem := self._hand.unwell()):
            self.problems.append(f"in the end: {problem}")

    def _until(self, moment: float) -> None:
        self._stopping.wait(max(0.0, moment - time.monotonic()))
