"""What a soak came to, for people and for programs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lab.load import LoadResult
from lab.soak.actions import Action
from lab.soak.losses import Loss, attributed
from lab.soak.plan import Plan
from lab.soak.player import Acted, Player

SHOWN_LOSSES: Final = 20


@dataclass(frozen=True, kw_only=True)
class SoakResult:
    """``sent`` = completed + lost + unanswered + given up, which only an interrupt does. ``again`` replays it."""

    plan: Plan
    stack: str
    seconds: float
    acted: tuple[Acted, ...]
    sent: int
    completed: int
    unanswered: int
    given_up: int
    losses: tuple[Loss, ...]
    problems: tuple[str, ...]
    interrupted: bool
    again: str

    @classmethod
    def of(cls, player: Player, plan: Plan, stack: str, again: str) -> "SoakResult":
        """The books of a soak that is over."""
        results = player.results
        failures = [failure for one in results for failure in one.failures]
        tolls = [one.done.toll for one in player.acted if one.done.toll is not None]
        begins = [(one.begun, one.action) for one in player.acted]
        left = _total(results, "abandoned")
        untold = _total(results, "lost") - len(failures)
        more = [f"{untold} more losses, of which nothing was kept"] if untold else []
        return cls(
            plan=plan,
            stack=stack,
            seconds=player.seconds,
            acted=tuple(player.acted),
            sent=_total(results, "sent"),
            completed=_total(results, "completed"),
            unanswered=0 if player.interrupted else left,
            given_up=left if player.interrupted else 0,
            losses=tuple(attributed(failures, tolls, begins)),
            problems=(*player.problems, *more),
            interrupted=player.interrupted,
            again=again,
        )

    @property
    def outside(self) -> list[Loss]:
        """Losses that no death explains."""
        return [loss for loss in self.losses if loss.toll is None]

    @property
    def ok(self) -> bool:
        """Nothing lost but with what died, every request answered, every action done."""
        return not (self.outside or self.unanswered or self.problems)

    @property
    def verdict(self) -> str:
        """One line."""
        within = len(self.losses) - len(self.outside)
        lost = f"{len(self.outside) + self.unanswered} lost outside node deaths"
        return f"{lost}; {within} with what died; {self.completed} of {self.sent} requests completed"

    def as_json(self) -> dict[str, Any]:
        """The document of `headroom lab soak --json`; docs/json/soak.schema.json describes it."""
        return {
            "stack": self.stack,
            "seed": self.plan.seed,
            "minutes": self.plan.minutes,
            "durationSeconds": round(self.seconds, 1),
            "ok": self.ok,
            "interrupted": self.interrupted,
            "planned": len(self.plan.actions),
            "actions": [_acted(one) for one in self.acted],
            "sent": self.sent,
            "completed": self.completed,
            "unanswered": self.unanswered,
            "givenUp": self.given_up,
            "lostWithDeaths": len(self.losses) - len(self.outside),
            "lostOutside": [_loss(one) for one in self.outside],
            "problems": list(self.problems),
            "replay": self.again,
        }

    def view(self) -> Group:
        """For the terminal."""
        title = f"Soak of {self.stack}: seed {self.plan.seed}, {self.seconds:.0f} s"
        table = Table(title=title, title_justify="left", box=None)
        for name in ("at", "action", "took", "what came of it"):
            table.add_column(name, justify="right" if name in ("at", "took") else "left", overflow="fold")
        for one in self.acted:
            done = one.done
            said = done.problem or (f"skipped: {done.note}" if done.skipped else done.note)
            style = "red" if done.problem else None
            table.add_row(
                f"{one.action.at:.0f} s", one.action.words, f"{one.took:.1f} s", Text(said), style=style
            )
        parts: list[Any] = [table]
        if missed := len(self.plan.actions) - len(self.acted):
            parts.append(
                Text(f"{missed} actions were not begun in time" if not self.interrupted else "interrupted")
            )
        if self.outside:
            parts.append(_table(self.outside))
        parts += [Text(problem, style="red") for problem in self.problems]
        parts.append(Text(self.verdict, style="bold green" if self.ok else "bold red"))
        if not self.ok:
            parts.append(Text(f"Replay it: {self.again}"))
        return Group(*parts)


def _total(results: Sequence[LoadResult], name: str) -> int:
    return sum(getattr(one, name) for one in results)


def _table(losses: Sequence[Loss]) -> Table:
    causes = Counter(loss.failure.cause for loss in losses)
    counted = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    table = Table(title=f"Lost outside node deaths: {counted}", title_justify="left")
    for name in ("lost at", "after", "router", "cause", "detail", "nearest action before"):
        table.add_column(name)
    for loss in losses[:SHOWN_LOSSES]:
        one = loss.failure
        table.add_row(
            _moment(one.clock)[11:23],
            f"{one.after:.1f} s",
            one.target.removeprefix("http://") or "-",
            one.cause,
            Text(one.detail),
            loss.before.words if loss.before else "-",
        )
    return table


def _moment(clock: float) -> str:
    return datetime.fromtimestamp(clock, UTC).isoformat(timespec="milliseconds")


def _acted(one: Acted) -> dict[str, Any]:
    toll = one.done.toll
    return {
        **_planned(one.action),
        "begunAt": _moment(one.begun),
        "tookSeconds": round(one.took, 1),
        "note": one.done.note,
        "skipped": one.done.skipped,
        "problem": one.done.problem,
        "requestsThatDied": toll.requests if toll and toll.router is None else None,
    }


def _planned(action: Action) -> dict[str, Any]:
    return {**action.as_json(), "words": action.words}


def _loss(loss: Loss) -> dict[str, Any]:
    one = loss.failure
    return {
        "lostAt": _moment(one.clock),
        "lostAfterSeconds": round(one.after, 3),
        "id": one.id,
        "target": one.target,
        "route": one.route,
        "stream": one.stream,
        "cause": one.cause,
        "detail": one.detail,
        "before": _planned(loss.before) if loss.before else None,
    }
