"""The cheapest way to meet slo.readySeconds: warm spares, and machines with a faster network for the weights."""

from __future__ import annotations

from dataclasses import dataclass

from planner.plan.machines import cheapest, fitting
from planner.plan.prices import first_choice, hourly
from planner.plan.timing import timing
from planner.plan.variants import with_pool, with_spares
from specs.settings.model import Model
from specs.settings.stack import Settings

MOST_SPARES = 2


@dataclass(frozen=True)
class Way:
    """A changed stack; `types` is empty where the pool's machines stay."""

    settings: Settings
    spares: int
    types: tuple[str, ...]
    unchanged: bool


def way_to_slo(settings: Settings, model: Model) -> Way | None:
    """The cheapest combination that meets the SLO, the stack's own among them; None when none does. One spare is as
    quick as several, so spares beyond one are never the answer, and a stack that keeps several keeps them.
    """
    given = model.scaling.warm_spares
    ways: list[tuple[float, int, Way]] = []
    for spares in sorted({0, 1, given} if given < MOST_SPARES else {0, given}):
        for threshold, types in _machines(settings, model):
            changed = with_spares(settings, model, spares)
            if types:
                pool = changed.pool(model.pool)
                named = {"families": None, "instance_types": types}
                changed = with_pool(changed, pool.model_copy(update=named))
            own = next(entry for entry in changed.models if entry.name == model.name)
            if timing(changed, own).meets_slo:
                way = Way(changed, spares, types, spares == given and not types)
                ways.append((_price(changed, own, spares), threshold, way))
    return min(ways, key=lambda entry: entry[:2])[2] if ways else None


def _machines(settings: Settings, model: Model) -> list[tuple[int, tuple[str, ...]]]:
    """The pool's machines as they are, and those above each network baseline; with the number of types dropped."""
    pool = settings.pool(model.pool)
    alone = sum(entry.pool == pool.name for entry in settings.active_models) == 1
    types = fitting(model, pool)
    found: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    if alone:  # another model of the pool may need the types that would go
        for baseline in sorted({entry.network_gbps for entry in types})[1:]:
            kept = tuple(entry.type for entry in types if entry.network_gbps >= baseline)
            found.append((len(types) - len(kept), kept))
    return found


def _price(settings: Settings, model: Model, spares: int) -> float:
    """USD an hour of one serving replica and the spares."""
    pool = settings.pool(model.pool)
    instance = cheapest(model, pool)
    each = hourly(instance, first_choice(pool)) if instance else 0.0
    return each * (max(1, model.replicas.min) + spares)
