"""What a change of the configuration changes: keys, seconds, caps, quotas and dollars, for a reviewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from planner.plan.build import Plan
from specs.problems import shown

Unit = Literal["key", "seconds", "gpus", "vcpu", "usd", "share"]
SMALLEST = {"seconds": 0.05, "gpus": 0.5, "vcpu": 0.5, "usd": 0.005, "share": 5e-7, "key": 0.0}
"""Smaller changes are none."""


@dataclass(frozen=True)
class Change:
    """One figure or key that differs; None where a side has no such thing."""

    item: str
    unit: Unit
    before: object
    after: object

    @property
    def delta(self) -> float | None:
        """After less before, for figures both sides have."""
        before, after = self.before, self.after
        if self.unit == "key" or not isinstance(before, int | float) or not isinstance(after, int | float):
            return None
        return float(after) - float(before)

    def as_json(self) -> dict[str, object]:
        """Documented keys of `difference`."""
        delta = self.delta
        return {
            "item": self.item,
            "unit": self.unit,
            "before": self.before,
            "after": self.after,
            "change": None if delta is None else round(delta, 6),
        }


@dataclass(frozen=True)
class Difference:
    """All changes from one plan to another; settings first."""

    before: str
    after: str
    changes: tuple[Change, ...]

    def as_json(self) -> dict[str, object]:
        """The document of `headroom plan --against --json`, beside the plan itself."""
        return {
            "before": self.before,
            "after": self.after,
            "changes": [change.as_json() for change in self.changes],
        }


def difference(before: Plan, after: Plan) -> Difference:
    """What `after` changes against `before`."""
    found = [*_keys(before, after)]
    old, new = dict(_figures(before)), dict(_figures(after))
    for item in [*old, *(item for item in new if item not in old)]:
        unit = (old.get(item) or new[item])[0]
        one, other = (side[item][1] if item in side else None for side in (old, new))
        if not _same(one, other, SMALLEST[unit]):
            found.append(Change(item, unit, one, other))
    return Difference(before.stack, after.stack, tuple(found))


def _same(one: object, other: object, smallest: float) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < smallest or one == other
    return one == other


def _figures(plan: Plan) -> Iterator[tuple[str, tuple[Unit, float | None]]]:
    """Every figure a reviewer decides by, in a stable order."""
    yield "cost.floorUsd", ("usd", round(plan.cost.floor, 2))
    yield "cost.typicalUsd", ("usd", round(plan.cost.typical, 2))
    yield "cost.ceilingUsd", ("usd", round(plan.cost.ceiling, 2))
    yield "caps.replicasGpus", ("gpus", plan.caps.replicas)
    yield "caps.poolsGpus", ("gpus", plan.caps.pool_gpus)
    yield "caps.budgetGpus", ("gpus", plan.caps.budget)
    for quota in plan.quotas:
        yield f"quotas.{quota.name.key}", ("vcpu", quota.vcpu)
    for entry in plan.models:
        name, times = entry.model.name, entry.timing
        for tier in times.tiers:
            yield f"{name}.{tier.name}.readySeconds", ("seconds", round(tier.total, 2))
        yield f"{name}.timeToZeroSeconds", ("seconds", times.time_to_zero)
        wait = times.first_caller.seconds if times.first_caller else None
        yield f"{name}.firstCallerWaitSeconds", ("seconds", wait)
        yield f"{name}.drainWindowSeconds", ("seconds", times.leaving.window_seconds)
        yield f"{name}.violationShare", ("share", entry.month.violation_share)


def _keys(before: Plan, after: Plan) -> Iterator[Change]:
    """Settings that differ, defaults included; models and pools are matched by their names, and one that only one
    side has is one change.
    """
    old, new = (
        dict(_flat("", plan.settings.model_dump(mode="json", by_alias=True))) for plan in (before, after)
    )
    named: set[str] = set()
    for path in [*old, *(path for path in new if path not in old)]:
        entry = path[: path.index("]") + 1] if "]" in path else ""
        if entry and (_has(old, entry) != _has(new, entry)):
            if entry not in named:
                named.add(entry)
                there = "there" if _has(new, entry) else None
                yield Change(entry, "key", None if there else "there", there)
        elif old.get(path) != new.get(path):
            yield Change(path, "key", old.get(path), new.get(path))


def _has(flat: Mapping[str, object], entry: str) -> bool:
    return f"{entry}.name" in flat


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[str, object], value).items():
            yield from _flat(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list):
        items = cast(list[object], value)
        named = [cast(Mapping[str, object], item) for item in items if isinstance(item, Mapping)]
        if items and all("name" in item for item in named) and len(named) == len(items):
            for item in named:
                yield from _flat(f"{path}[{item['name']}]", item)
        else:
            yield path, items
    else:
        yield path, value


def amount(change: Change, value: object) -> str:
    """A value as a reviewer reads it."""
    if value is None:
        return "none" if change.unit != "key" else "-"
    if change.unit == "key" or not isinstance(value, int | float):
        return shown(value)
    forms: Mapping[str, str] = {
        "usd": f"${value:,.2f}",
        "seconds": f"{value:,.1f} s",
        "gpus": f"{value:,.0f} GPUs",
        "vcpu": f"{value:,.0f} vCPU",
        "share": f"{value:.3%}",
    }
    return forms[change.unit]


def movement(change: Change) -> str:
    """The signed change, with its share of what was."""
    delta = change.delta
    if delta is None:
        return ""
    text = amount(change, abs(delta))
    sign = "+" if delta >= 0 else "-"
    before = cast(float, change.before)
    share = f" ({delta / before:+.1%})" if before and change.unit == "usd" else ""
    return f"{sign}{text}{share}"
