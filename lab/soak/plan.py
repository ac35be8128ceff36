"""Draws the actions of a soak: the same seed, minutes and models give the same plan byte for byte."""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from lab.soak.actions import COMPONENTS, Action, Kind
from specs.problems import Problem, SettingsError

T = TypeVar("T")

LEAST_MINUTES: Final = 1.0
MOST_MINUTES: Final = 24 * 60.0
FIRST_SECONDS: Final = 5.0
LAST_SECONDS: Final = 20.0
"""The end of a soak in which nothing new happens: what the last action does is still seen."""

GAPS: Final[Mapping[Kind, tuple[float, float]]] = {
    "burst": (4.0, 10.0),
    "spot-notice": (12.0, 20.0),
    "node-death": (16.0, 25.0),
    "engine-crash": (16.0, 20.0),
    "router-crash": (8.0, 14.0),
    "component-crash": (8.0, 15.0),
    "rolling-update": (15.0, 25.0),
    "unchanged-update": (6.0, 12.0),
}
"""Seconds to the next action, from and to: long enough to tell whose loss a lost request is."""
ROUND: Final[Sequence[Kind]] = (
    "burst",
    "burst",
    "burst",
    "component-crash",
    "component-crash",
    "spot-notice",
    "node-death",
    "engine-crash",
    "router-crash",
    "rolling-update",
    "unchanged-update",
)
"""Actions are drawn without putting back from this, again and again: a short soak has seen most kinds."""
CLIENTS: Final = (10, 40)
BURST_SECONDS: Final = (8.0, 25.0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The actions in the order of their moments."""

    seed: int
    minutes: float
    actions: tuple[Action, ...]

    def text(self) -> str:
        """One JSON object a line."""
        return "".join(json.dumps(one.as_json(), sort_keys=True) + "\n" for one in self.actions)


def plan_of(seed: int, minutes: float, models: Sequence[str], sleeping: Sequence[str] = ()) -> Plan:
    """The plan for models that always serve and those that may sleep, which see bursts alone.

    Raises SettingsError for a time out of bounds, and when no model always serves.
    """
    problems: list[Problem] = []
    if not (math.isfinite(minutes) and LEAST_MINUTES <= minutes <= MOST_MINUTES):
        allowed = f"minutes from {LEAST_MINUTES:g} to {MOST_MINUTES:g}"
        problems.append(Problem("--minutes", f"{minutes:g}", allowed, "e.g. --minutes 3"))
    if not models:
        fix = "enable a model whose replicas.min is above 0 in the stack file"
        problems.append(Problem("headroom:models", "none that always serves", "at least one", fix))
    if problems:
        raise SettingsError(problems)
    # A text as seed: its bytes decide, whatever the hash seed of the process (random.seed, version 2).
    chance = random.Random(f"soak/{seed}")  # noqa: S311 - chaos by a seed, no secret
    kinds, components = _Bag(chance, ROUND), _Bag[str](chance, COMPONENTS)
    actions: list[Action] = []
    at, end = FIRST_SECONDS, minutes * 60 - LAST_SECONDS
    while at <= end:
        action = _action(chance, round(at, 1), kinds.take(), components, models, sleeping)
        actions.append(action)
        at += chance.uniform(*GAPS[action.kind])
    return Plan(seed=seed, minutes=minutes, actions=tuple(actions))


def _action(
    chance: random.Random,
    at: float,
    kind: Kind,
    components: "_Bag[str]",
    models: Sequence[str],
    sleeping: Sequence[str],
) -> Action:
    model = chance.choice([*models, *sleeping] if kind == "burst" else models)
    match kind:
        case "burst":
            clients, seconds = chance.randint(*CLIENTS), round(chance.uniform(*BURST_SECONDS), 1)
            return Action(at=at, kind=kind, target=model, clients=clients, seconds=seconds)
        case "component-crash":
            return Action(at=at, kind=kind, target=components.take())
        case "rolling-update":
            return Action(at=at, kind=kind, target=model)
        case "unchanged-update":
            return Action(at=at, kind=kind, target="")
        case _:
            pick = math.floor(chance.random() * 1000) / 1000
            return Action(at=at, kind=kind, target=model, pick=pick)


class _Bag(Generic[T]):
    """Gives each of its things once before it gives one again."""

    def __init__(self, chance: random.Random, things: Sequence[T]) -> None:
        self._chance = chance
        self._things = things
        self._left: list[T] = []

    def take(self) -> T:
        if not self._left:
            self._left = self._chance.sample(self._things, len(self._things))
        return self._left.pop()
