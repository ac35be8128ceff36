"""Changes that a search over floor, spares, machines and capacity type finds worthwhile, with their price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.plan.families import better_families
from planner.plan.load import Load, Typical, typical
from planner.plan.machines import cheapest
from planner.plan.money import gpu_bill
from planner.plan.prices import HOURS_A_MONTH, first_choice, hourly
from planner.plan.ready import Way, way_to_slo
from planner.plan.timing import timing
from planner.plan.variants import model_path, pool_path, with_pool
from planner.replay import Floor
from planner.replay.floor import ALLOWED_SHARE
from specs.drain import LEAST_MARGIN_SECONDS, SPOT_NOTICE_SECONDS, drain_seconds
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings

WORTH = 0.05
"""Share of the GPU bill a change must save to be named."""


@dataclass(frozen=True)
class Recommendation:
    """One change and what it does. `usd` a month, negative for a saving; `ready_seconds` of a burst and
    `violation_share` of the typical load where the change moves them; `estimated` where it rests on data sheets
    or assumed prices.
    """

    kind: str
    path: str
    given: object
    wanted: object
    usd: float
    ready_seconds: float | None = None
    violation_share: float | None = None
    estimated: bool = False

    def as_json(self) -> dict[str, object]:
        """Documented keys of `recommendations`."""
        return {
            "kind": self.kind,
            "path": self.path,
            "from": self.given,
            "to": self.wanted,
            "usdPerMonth": round(self.usd, 2),
            "readySeconds": None if self.ready_seconds is None else round(self.ready_seconds, 1),
            "violationShare": None if self.violation_share is None else round(self.violation_share, 6),
            "estimated": self.estimated,
        }


def recommendations(
    settings: Settings,
    loads: Mapping[str, Load],
    months: Mapping[str, Typical],
    floors: Mapping[str, Floor],
) -> list[Recommendation]:
    """Every worthwhile change, models first, then pools, in the order of the configuration."""
    found: list[Recommendation] = []
    for model in settings.active_models:
        if model.name in floors:
            found += _floor(settings, model, floors[model.name])
        found += _ready(settings, model, loads[model.name], months[model.name])
    for pool in settings.gpu_pools:
        models = [model for model in settings.active_models if model.pool == pool.name]
        if models:
            found += _capacity(settings, pool, models, months)
            found += _family(settings, pool, models, loads, months)
    return found


def _floor(settings: Settings, model: Model, best: Floor) -> Iterator[Recommendation]:
    """The floor with the least cost of node-hours and violations, and the one that keeps violations in bounds."""
    least, hours = model.replicas.min, best.result.duration_seconds / 3600
    for replicas, result in ((best.replicas, best.result), (best.steady, best.steady_result)):
        if replicas is None or result is None or replicas == least:
            continue
        more = (result.node_seconds - best.without.node_seconds) / 3600 / hours * HOURS_A_MONTH
        yield Recommendation(
            "floor",
            f"{model_path(settings, model)}.replicas.min",
            least,
            replicas,
            more * _usual(settings, model),
            violation_share=result.violation_share,
        )


def _usual(settings: Settings, model: Model) -> float:
    """USD an hour of a node as usually bought."""
    pool = settings.pool(model.pool)
    instance = cheapest(model, pool)
    return hourly(instance, first_choice(pool)) if instance else 0.0


def _ready(settings: Settings, model: Model, load: Load, month: Typical) -> Iterator[Recommendation]:
    """Spares and machines that make a burst meet slo.readySeconds at the least price, or fewer spares that do."""
    way = way_to_slo(settings, model)
    if way is None or way.unchanged:
        return
    changed = way.settings
    own = changed.models[[entry.name for entry in changed.models].index(model.name)]
    after = typical(changed, own, load)
    usd = gpu_bill(changed, own, after) - gpu_bill(settings, model, month)
    yield from _steps(settings, model, way, usd, timing(changed, own).current_total, after.violation_share)


def _steps(
    settings: Settings, model: Model, way: Way, usd: float, ready: float, share: float | None
) -> Iterator[Recommendation]:
    """One entry a changed key; the price of the whole stands with the first."""
    if way.spares != model.scaling.warm_spares:
        path = f"{model_path(settings, model)}.scaling.warmSpares"
        yield Recommendation(
            "warmSpares", path, model.scaling.warm_spares, way.spares, usd, ready, share, bool(way.types)
        )
        usd = 0.0
    if way.types:
        pool = settings.pool(model.pool)
        path = f"{pool_path(settings, pool)}.instanceTypes"
        given = list(pool.instance_types or pool.families or ())
        yield Recommendation("instanceTypes", path, given, list(way.types), usd, ready, share, estimated=True)


def _capacity(
    settings: Settings, pool: GpuPool, models: list[Model], months: Mapping[str, Typical]
) -> Iterator[Recommendation]:
    """Spot beside on-demand where every drain fits the spot notice."""
    fits = all(drain_seconds(model) + LEAST_MARGIN_SECONDS <= SPOT_NOTICE_SECONDS for model in models)
    if pool.capacity_types != ("on-demand",) or not fits:
        return
    wanted = with_pool(settings, pool.model_copy(update={"capacity_types": ("spot", "on-demand")}))
    before = sum(gpu_bill(settings, model, months[model.name]) for model in models)
    usd = sum(gpu_bill(wanted, model, months[model.name]) for model in models) - before
    if usd < -WORTH * before:
        path = f"{pool_path(settings, pool)}.capacityTypes"
        yield Recommendation("capacityTypes", path, ["on-demand"], ["spot", "on-demand"], usd, estimated=True)


def _family(
    settings: Settings,
    pool: GpuPool,
    models: list[Model],
    loads: Mapping[str, Load],
    months: Mapping[str, Typical],
) -> Iterator[Recommendation]:
    """The family that serves the pool's models cheapest, where it is another one."""
    before = sum(gpu_bill(settings, model, months[model.name]) for model in models)
    limit = before * (1 - WORTH)
    shares = [months[model.name].violation_share or 0.0 for model in models]
    for family, bill, share in better_families(settings, pool, models, loads, months, limit)[:1]:
        if bill < limit and (share or 0.0) <= max(ALLOWED_SHARE, *shares):
            key = "families" if pool.families else "instanceTypes"
            yield Recommendation(
                "families",
                f"{pool_path(settings, pool)}.{key}",
                list(pool.families or pool.instance_types or ()),
                [family],
                bill - before,
                violation_share=share,
                estimated=True,
            )
