"""What other GPU families would cost for the same load: capacity scaled by data sheets, then replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.engine import physical_model, request_size
from planner.plan.load import Load, Typical, typical
from planner.plan.machines import cheapest, fitting
from planner.plan.money import gpu_bill
from planner.plan.prices import HOURS_A_MONTH
from planner.plan.variants import fingerprint, with_model, with_pool
from specs.catalogue import catalogue
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings

REPLAYED = 2
"""Families whose estimate is best are replayed; whole replicas decide between them."""


def better_families(
    settings: Settings,
    pool: GpuPool,
    models: list[Model],
    loads: Mapping[str, Load],
    months: Mapping[str, Typical],
    limit: float,
) -> list[tuple[str, float, float | None]]:
    """Family, USD a month for the pool's GPUs and worst share of time in violation, cheapest first; the pool's own
    families and those whose estimate is above `limit` USD are left out.
    """
    own = {instance.family for model in models for instance in fitting(model, pool)}
    first: list[tuple[float, str, Settings]] = []
    for family in catalogue().families():
        other = pool.model_copy(update={"families": (family,), "instance_types": None})
        if family in own or not all(fitting(model, other) for model in models):
            continue
        changed = with_pool(settings, other)
        usd = sum(
            gpu_bill(changed, model, _scaled(settings, changed, model, months[model.name]))
            for model in models
        )
        if usd < limit:
            first.append((usd, family, changed))
    found: list[tuple[str, float, float | None]] = []
    for _, family, changed in sorted(first, key=lambda entry: entry[:2])[:REPLAYED]:
        usd, worst = 0.0, None
        known: dict[tuple[str, int, float], Typical] = {}
        for model in models:
            moved, stack = _recalibrated(settings, changed, model)
            load = loads[model.name]
            key = (fingerprint(stack, moved), id(load.trace), load.scale)
            month = known[key] = known.get(key) or typical(stack, moved, load)
            usd += gpu_bill(stack, moved, month)
            if month.violation_share is not None:
                worst = max(worst or 0.0, month.violation_share)
        found.append((family, usd, worst))
    return sorted(found, key=lambda entry: (entry[1], entry[0]))


def _speed(settings: Settings, changed: Settings, model: Model) -> float:
    """How many times the requests one replica serves on the changed pool's cheapest type."""
    size = request_size(model)
    before = physical_model(settings, model, cheapest(model, settings.pool(model.pool)))
    after = physical_model(changed, model, cheapest(model, changed.pool(model.pool)))
    return after.curve(*size).capacity / before.curve(*size).capacity


def _scaled(settings: Settings, changed: Settings, model: Model, month: Typical) -> Typical:
    """A first estimate: node-hours by speed, never below the floor."""
    speed = _speed(settings, changed, model)
    kept = max(1, model.replicas.min) * HOURS_A_MONTH + month.spare_hours
    hours = max(kept, month.node_hours / speed)
    return replace(month, node_hours=hours, bound_hours=month.bound_hours / speed)


def _recalibrated(settings: Settings, changed: Settings, model: Model) -> tuple[Model, Settings]:
    """The model with the capacity expected on the other machines."""
    if model.capacity is None:
        return model, changed
    rate = model.capacity.requests_per_second * _speed(settings, changed, model)
    capacity = model.capacity.model_copy(update={"requests_per_second": rate})
    moved = model.model_copy(update={"capacity": capacity})
    return moved, with_model(changed, moved)
