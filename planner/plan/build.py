"""The plan of a stack: seconds, caps, quotas and dollars, before anything exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.plan import published
from planner.plan.caps import Caps, Quota, caps, quotas
from planner.plan.cost import Cost, cost
from planner.plan.load import Load, Typical, load_of, typical
from planner.plan.machines import Machine, machines
from planner.plan.prices import prices
from planner.plan.recommend import Recommendation, recommendations
from planner.plan.timing import Timing, timing
from planner.plan.variants import fingerprint
from planner.replay import Floor, recommended_floor
from planner.replay.simulate import model_named, refuse
from planner.traces import Trace
from specs.catalogue import catalogue
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import Tier


@dataclass(frozen=True)
class ModelPlan:
    """One model's part."""

    model: Model
    timing: Timing
    machines: tuple[Machine, ...]
    month: Typical
    floor: Floor | None = None
    """The search for a floor on the typical load; None where none was made."""

    def as_json(self) -> dict[str, object]:
        """Documented keys of `models`."""
        times = self.timing
        share = self.month.violation_share
        return {
            "name": self.model.name,
            "tiers": [_tier(tier, times.ready_slo) for tier in times.tiers],
            "currentTier": times.current,
            "readySloSeconds": times.ready_slo,
            "timeToZeroSeconds": times.time_to_zero,
            "timeToNoNodeSeconds": times.time_to_no_node,
            "firstCallerAtZero": times.first_caller.as_json() if times.first_caller else None,
            "metricsOutage": times.outage.as_json(),
            "drain": times.leaving.as_json(),
            "instanceTypes": [machine.as_json() for machine in self.machines],
            "typical": {
                "source": self.month.source,
                "assumed": self.month.assumed,
                "nodeHours": round(self.month.node_hours, 1),
                "boundNodeHours": round(self.month.bound_hours, 1),
                "violationShare": None if share is None else round(share, 6),
            },
        }


def _tier(tier: Tier, slo: float) -> dict[str, object]:
    stages = {name: getattr(tier, name) for name in ("detect", "node", "image", "weights", "engine")}
    return {
        "tier": tier.name,
        "stages": {name: round(value, 2) for name, value in stages.items()},
        "aheadSeconds": round(tier.hidden, 2),
        "totalSeconds": round(tier.total, 2),
        "meetsSlo": tier.total <= slo,
    }


@dataclass(frozen=True)
class Plan:
    """All of it; `settings` is what it was made from."""

    stack: str
    settings: Settings
    models: tuple[ModelPlan, ...]
    caps: Caps
    quotas: tuple[Quota, ...]
    cost: Cost
    recommendations: tuple[Recommendation, ...]

    def as_json(self) -> dict[str, object]:
        """The document of `headroom plan --json`; docs/json/plan.schema.json describes it."""
        return {
            "stack": self.stack,
            "region": self.settings.region,
            "models": [model.as_json() for model in self.models],
            "caps": self.caps.as_json(),
            "quotas": [quota.as_json() for quota in self.quotas],
            "cost": self.cost.as_json(),
            "published": published.as_json(self.cost),
            "recommendations": [entry.as_json() for entry in self.recommendations],
            "prices": self.sources(),
        }

    def sources(self) -> dict[str, object]:
        """Where the prices come from, and whether they are of the stack's own region."""
        types, items = catalogue(), prices()
        return {
            "region": types.region,
            "date": min(types.date, items.date),
            "ofStackRegion": types.region == self.settings.region == items.region,
            "spotShare": items.spot_share,
            "spotMeasured": sorted(items.spot_prices),
        }


def plan(
    settings: Settings,
    stack: str,
    traces: Mapping[str, Trace] | None = None,
    scale: float = 1.0,
    search: bool = True,
) -> Plan:
    """Plan an accepted configuration.

    `traces` holds arrivals by model name, replayed at `scale` times their rate; a model without one gets a diurnal day
    whose busiest hour asks for every replica. `search` off leaves the recommendations out. Raises ReplayError for a
    trace of a model that the stack lacks or whose capacity is not measured, and for a scale out of range.
    """
    given = traces or {}
    for name, trace in given.items():
        refuse(model_named(settings, name), scale, trace)
    loads: dict[str, Load] = {
        model.name: load_of(settings, model, given.get(model.name), scale) for model in settings.active_models
    }
    floors = _floors(settings, loads) if search else {}
    months = _months(settings, loads, floors)
    return Plan(
        stack=stack,
        settings=settings,
        models=tuple(
            ModelPlan(
                model,
                timing(settings, model),
                tuple(machines(settings, model)),
                months[model.name],
                floors.get(model.name),
            )
            for model in settings.active_models
        ),
        caps=caps(settings),
        quotas=tuple(quotas(settings)),
        cost=cost(settings, months),
        recommendations=tuple(recommendations(settings, loads, months, floors)) if search else (),
    )


def _floors(settings: Settings, loads: Mapping[str, Load]) -> dict[str, Floor]:
    """The floor's search of each model with a measured capacity; models alike on one load are searched once."""
    known: dict[tuple[str, int, float], Floor] = {}
    found: dict[str, Floor] = {}
    for model in settings.active_models:
        if model.capacity is None:
            continue
        load = loads[model.name]
        key = (fingerprint(settings, model), id(load.trace), load.scale)
        if key not in known:
            known[key] = recommended_floor(settings, load.trace, model.name, load.scale)
        found[model.name] = known[key]
    return found


def _months(settings: Settings, loads: Mapping[str, Load], floors: Mapping[str, Floor]) -> dict[str, Typical]:
    """Each model's typical month. The floor's search begins with the stack as it is: its replay serves here too."""
    known: dict[tuple[str, int, float], Typical] = {}
    found: dict[str, Typical] = {}
    for model in settings.active_models:
        load = loads[model.name]
        key = (fingerprint(settings, model), id(load.trace), load.scale)
        if key not in known:
            replayed = floors[model.name].without if model.name in floors else None
            known[key] = typical(settings, model, load, replayed)
        found[model.name] = known[key]
    return found
